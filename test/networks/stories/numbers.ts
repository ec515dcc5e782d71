import type { Story } from './stage.ts';

/** A number as people write it, and the one that its owner has on the network. */
const forms = {
  'a Brazilian': ['+5511987650001', '+551187650001'],
  'a Mexican': ['+525512340001', '+5215512340001'],
  'an Argentine': ['+541123450001', '+5491123450001'],
} as const;

function oneDigit(country: keyof typeof forms): Story {
  const [typed, real] = forms[country];
  const texts = (what: string) => `${what}, ${country}`;
  return {
    title: `a person with two forms of ${country} number is one contact`,
    async play(t, stage) {
      await stage.msgapp.renumber(typed, real);
      const { contact } = await stage.send(stage.line, typed, texts('to the number as typed'));
      for (const shows of ['phone_only', 'hidden_only'] as const) {
        const text = texts(`a reply that shows the ${shows}`);
        const reply = await stage.write(stage.line, { from: real, text, shows });
        t.match(reply.contact, { id: contact.id, phone: typed });
      }
      await stage.send(stage.line, { contact_id: contact.id }, texts('and back'));
      t.match(await stage.shown(stage.line, texts('to the number as typed'), texts('and back')), [
        { to: real },
        { to: real },
      ]);
      t.equal(await stage.contacts(typed), 1);
      const asked = (await stage.msgapp.lookUps()).filter((number) => number === typed);
      t.equal(asked.length, 1, 'the network is asked once');
    },
  };
}

/** Stories of numbers that differ by a digit from what is on the network. */
export const numberStories: readonly Story[] = [
  oneDigit('a Brazilian'),
  oneDigit('a Mexican'),
  oneDigit('an Argentine'),
  {
    title: 'both forms of a number that were written to reach the same person',
    async play(t, stage) {
      const [typed, real] = ['+5511987650002', '+551187650002'];
      await stage.msgapp.renumber(typed, real);
      await stage.send(stage.line, typed, 'to the new form');
      await stage.send(stage.line, real, 'to the old form');
      t.match(await stage.shown(stage.line, 'to the new form', 'to the old form'), [
        { to: real, times: 1 },
        { to: real, times: 1 },
      ]);
      const one = await stage.write(stage.line, { from: real, text: 'got both' });
      const other = await stage.write(stage.line, {
        ...{ from: real, text: 'both of them' },
        shows: 'hidden_only',
      });
      t.equal(one.contact.id, other.contact.id, 'the answers are of one contact');
    },
  },
  {
    title: 'a number that nobody has fails, and opens no empty chat',
    async play(t, stage) {
      const nobody = stage.somebody();
      await stage.msgapp.remove(nobody);
      t.match(await stage.refused(stage.line, nobody, 'anybody there?'), /^not_on_network: /);
      t.same(await stage.shown(stage.line, 'anybody there?'), []);
    },
  },
];
