import t from 'tap';
import { changeFeatures, featureNames } from '../../../plugins/tenants/features.ts';
import { hashed, looksLikeKey, newKey } from '../../../plugins/tenants/keys.ts';
import { configuredPlans } from '../../../plugins/tenants/plans.ts';
import { RecentAnswers } from '../../../plugins/tenants/recent-answers.ts';

/** Questions that a test answers itself, in whatever order. */
function questions(maxAgeMs: number, maxEntries: number) {
  const asked: {
    question: string;
    answer(value: number | null): void;
    fail(error: Error): void;
  }[] = [];
  const time = { now: 0 };
  const ask = (question: string) =>
    new Promise<number | null>((answer, fail) => {
      asked.push({ question, answer, fail });
    });
  const remembering = { maxAgeMs, maxEntries, monotonic: () => time.now };
  return { asked, time, answers: new RecentAnswers(ask, remembering) };
}

t.test('who asks the same at once shares one question', async (t) => {
  const { asked, answers } = questions(2_000, 10);
  const shared = Promise.all([answers.get('a'), answers.get('a'), answers.get('b')]);
  t.same(
    asked.map(({ question }) => question),
    ['a', 'b'],
  );
  for (const [value, { answer }] of asked.entries()) answer(value);
  t.same(await shared, [0, 0, 1]);
});

t.test('an answer is as old as its question', async (t) => {
  const { asked, time, answers } = questions(2_000, 10);
  const slow = answers.get('a');
  time.now = 1_999;
  asked[0]?.answer(1);
  t.equal(await slow, 1);
  t.equal(await answers.get('a'), 1);
  time.now = 2_000;
  const renewed = answers.get('a');
  asked[1]?.answer(2);
  t.equal(await renewed, 2, 'although it was answered a moment ago');
});

t.test('a failure is not remembered, and spoils no newer answer', async (t) => {
  const { asked, time, answers } = questions(2_000, 10);
  const first = answers.get('a');
  time.now = 3_000;
  const second = answers.get('a');
  asked[1]?.answer(2);
  t.equal(await second, 2);
  asked[0]?.fail(new Error('late'));
  await t.rejects(first, /late/);
  t.equal(await answers.get('a'), 2);
  time.now = 6_000;
  const third = answers.get('a');
  asked[2]?.fail(new Error('away'));
  await t.rejects(third, /away/);
  answers.get('a').catch(() => undefined);
  t.equal(asked.length, 4, 'the next one asks again');
});

t.test('only so many are remembered, the oldest is forgotten', async (t) => {
  const { asked, answers } = questions(2_000, 3);
  for (const question of ['a', 'b', 'c', 'd']) answers.get(question);
  t.equal(answers.size, 3);
  answers.get('d');
  answers.get('b');
  t.equal(asked.length, 4);
  answers.get('a');
  t.equal(asked.length, 5);
});

t.test('answers that there is nothing drive out no other', async (t) => {
  const { asked, time, answers } = questions(2_000, 2);
  const ask = async (question: string, value: number | null) => {
    const answer = answers.get(question);
    asked.at(-1)?.answer(value);
    return await answer;
  };
  t.equal(await ask('a', 1), 1);
  for (const question of ['b', 'c', 'd']) t.equal(await ask(question, null), null);
  for (const question of ['e', 'f', 'g']) answers.get(question);
  t.equal(await answers.get('a'), 1);
  t.equal(asked.length, 7);
  t.equal(answers.size, 3);
  time.now = 2_000;
  t.equal(await ask('a', null), null, 'nor last longer');
  t.equal(await answers.get('a'), null);
  t.equal(asked.length, 8);
  const forgotten = answers.get('h');
  answers.forget('h');
  asked.at(-1)?.answer(8);
  await forgotten;
  answers.get('h');
  t.equal(asked.length, 10, 'what is forgotten while it is asked is asked again');
});

t.test('age 0 remembers nothing', async (t) => {
  const { asked, answers } = questions(0, 3);
  answers.get('a');
  answers.get('a');
  t.equal(asked.length, 2);
});

t.test('keys', async (t) => {
  const made = newKey('test');
  t.match(made.key, /^gw_test_[A-Za-z0-9_-]{43}$/);
  t.match(made.id, /^key_[0-9a-z]{26}$/);
  t.not(newKey('test').key, made.key);
  const stored = hashed(made, 'ten_1', 5);
  t.match(stored, { tenantId: 'ten_1', createdAt: 5, revokedAt: null });
  t.match(stored.hash, /^[0-9a-f]{64}$/);
  t.equal(stored.hint, `gw_test_…${made.key.slice(-4)}`);
  for (const [text, looks] of [
    [made.key, true],
    [`gw_live_${'x'.repeat(43)}`, true],
    [`gw_live_${'x'.repeat(42)}`, false],
    [`gw_live_${'x'.repeat(44)}`, false],
    ['gw_test_', false],
    [`gw_prod_${'x'.repeat(43)}`, false],
    [`gw_test_${'x'.repeat(42)} `, false],
    ['', false],
  ] as const) {
    t.equal(looksLikeKey(text), looks, text.slice(0, 30));
  }
});

t.test('features', async (t) => {
  const names = featureNames(['msgapp_web', 'chatapp']);
  t.same(names.slice(0, 5), ['api', 'webhooks', 'msgapp_web', 'chatapp', 'event:message.received']);
  t.equal(names.length, 14);
  t.same(
    changeFeatures(
      ['chatapp', 'api'],
      { enable: ['api', 'webhooks'], disable: ['chatapp'] },
      names,
    ),
    ['chatapp'],
  );
  t.throws(
    () => changeFeatures([], { enable: ['event:cook'], disable: [] }, names),
    /no feature "event:cook"/,
  );
});

t.test('plans', async (t) => {
  const free = {
    sends_cap: 1,
    new_contacts_cap: 2,
    accounts_cap: 3,
    channels: true,
    webhooks: true,
    ramp_days: 0,
  };
  const plans = configuredPlans({ free });
  t.equal(plans.plan('free'), free);
  t.match(plans.plan('gone'), { sends_cap: 0, accounts_cap: 0, channels: false });
  t.match(plans.plan('constructor'), { sends_cap: 0 });
  t.same(plans.names(), ['free']);
});
