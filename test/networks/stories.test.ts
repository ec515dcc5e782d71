import { readFile } from 'node:fs/promises';
import t from 'tap';
import { hiddenIdStories } from './stories/hidden-ids.ts';
import { limitStories } from './stories/limits.ts';
import { numberStories } from './stories/numbers.ts';
import { sessionStories } from './stories/sessions.ts';
import { openStage, type Story } from './stories/stage.ts';

const stories: readonly Story[] = [
  ...hiddenIdStories,
  ...numberStories,
  ...limitStories,
  ...sessionStories,
];

const stage = await openStage(t);

for (const { title, play } of stories) await t.test(title, (t) => play(t, stage));

t.test('over all stories no message was lost, and none came twice', async (t) => {
  const inbound = await stage.messages('inbound');
  const texts = inbound.map(({ text }) => text).filter((text) => stage.written.includes(text));
  t.same([...texts].sort(), [...stage.written].sort());
  const shown = [
    ...(await stage.msgapp.shown(stage.line.phone)),
    ...(await stage.msgapp.shown(stage.tried.phone)),
    ...(await stage.chatapp.outbox(stage.chat.phone)),
  ];
  const reached = shown.map(({ text }) => text).filter((text) => stage.sent.includes(text));
  t.same([...reached].sort(), [...stage.sent].sort());
});

t.test(
  'docs/stories.md has a row for each story, and a test and a source for each row',
  async (t) => {
    const page = await readFile('docs/stories.md', 'utf8');
    const rows = page
      .split('\n')
      .filter((line) => /^\| (?!what |---)/.test(line))
      .map((line) => line.split(' | ').map((cell) => cell.replace(/ \|$/, '')));
    const here: string[] = [];
    for (const [, source = '', , test = ''] of rows) {
      t.match(source, /^\[[^\]]+\]\(https:\/\/github\.com\/[^)]+\/(issues|pull)\/\d+\)/, test);
      const [, title = test, file] = /^(.*), in `(test\/\S+\.test\.ts)`$/.exec(test) ?? [];
      if (file === undefined) here.push(title);
      else t.match(await readFile(file, 'utf8'), `'${title}'`, `${file}: ${title}`);
    }
    t.same(here.sort(), stories.map(({ title }) => title).sort());
  },
);
