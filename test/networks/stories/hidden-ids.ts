import { bodyOf, successOf, until } from '../../harness/story.ts';
import type { Story } from './stage.ts';

function hiddenId(phone: string): string {
  return `77${phone.slice(1)}@lid`;
}

/** Stories of contacts whom the network names by a hidden id, by a number, or by both. */
export const hiddenIdStories: readonly Story[] = [
  {
    title: 'a reply under a hidden id is of the number that was written to',
    async play(t, stage) {
      const phone = stage.somebody();
      const sent = await stage.send(stage.line, phone, 'an offer');
      const reply = await stage.write(stage.line, {
        ...{ from: phone, text: 'a reply under a hidden id' },
        shows: 'hidden_only',
      });
      t.equal(reply.contact.id, sent.contact.id);
      t.equal(reply.contact.phone, phone);
    },
  },
  {
    title: 'a hidden id and a number that turn out to be one person become one contact',
    async play(t, stage) {
      const phone = stage.somebody();
      const first = await stage.write(stage.line, {
        ...{ from: phone, text: 'under a hidden id first' },
        shows: 'hidden_only',
      });
      t.equal(first.contact.phone, null);
      const later = await stage.write(stage.line, {
        ...{ from: phone, text: 'under both then' },
        shows: 'hidden_first',
      });
      const last = await stage.write(stage.line, {
        ...{ from: phone, text: 'under the number at last' },
        shows: 'phone_only',
      });
      t.same([later.contact.id, last.contact.id], [first.contact.id, first.contact.id]);
      t.equal(last.contact.phone, phone);
      t.equal(await stage.contacts(phone), 1);
    },
  },
  {
    title: 'an answer to somebody who hides the number arrives once, and its receipts count',
    async play(t, stage) {
      const from = '8899000111@lid';
      const { contact } = await stage.write(stage.line, { from, text: 'guess who' });
      t.equal(contact.phone, null);
      const to = { contact_id: contact.id };
      const { id } = await stage.send(stage.line, to, 'no idea');
      t.match(await stage.shown(stage.line, 'no idea'), [{ address: from, times: 1 }]);
      await stage.msgapp.report(stage.line.phone, id, 'delivered');
      await stage.msgapp.report(stage.line.phone, id, 'read');
      await until('the message to be read', async () =>
        (await stage.message(id)).status === 'read' ? true : undefined,
      );
    },
  },
  {
    title: 'two people with the same name and two hidden ids stay two',
    async play(t, stage) {
      const known = stage.somebody();
      const [one, other] = [
        await stage.write(stage.line, { from: known, name: 'Cohen', text: 'I am one Cohen' }),
        await stage.write(stage.line, {
          ...{ from: '8899000222@lid', name: 'Cohen' },
          text: 'I am another Cohen',
        }),
      ];
      t.not(one.contact.id, other.contact.id);
      await stage.send(stage.line, { contact_id: other.contact.id }, 'to the other Cohen');
      await stage.send(stage.line, known, 'to the first Cohen');
      t.match(await stage.shown(stage.line, 'to the other Cohen', 'to the first Cohen'), [
        { to: '8899000222' },
        { to: known },
      ]);
    },
  },
  {
    title: 'a conversation that moves to the hidden id loses nothing on the way',
    async play(t, stage) {
      const from = stage.somebody();
      const contacts = new Set<string>();
      for (const [n, shows] of (
        ['phone_only', 'phone_first', 'hidden_first', 'hidden_only', 'phone_only'] as const
      ).entries()) {
        if (n === 2) await stage.msgapp.drop(stage.line.phone);
        const text = `moving ${n}`;
        contacts.add((await stage.write(stage.line, { from, text, shows })).contact.id);
        await stage.send(stage.line, from, `moved ${n}`);
      }
      t.equal(contacts.size, 1);
      const shown = await stage.msgapp.shown(stage.line.phone);
      t.same(
        shown.filter(({ to }) => to === from).map(({ text }) => text),
        [0, 1, 2, 3, 4].map((n) => `moved ${n}`),
      );
    },
  },
  {
    title: 'a contact whose number is refused is reached under the hidden id',
    async play(t, stage) {
      const from = stage.somebody();
      await stage.write(stage.tried, { from, text: 'from a number that moved' });
      await stage.msgapp.refuseAddresses(stage.tried.phone, 'phone');
      await stage.send(stage.tried, from, 'to the hidden id');
      await stage.send(stage.tried, from, 'there at once');
      await stage.msgapp.refuseAddresses(stage.tried.phone, null);
      t.match(await stage.shown(stage.tried, 'to the hidden id', 'there at once'), [
        { to: from, address: hiddenId(from), times: 1 },
        { to: from, address: hiddenId(from), times: 1 },
      ]);
      t.match(await stage.account(stage.tried), { new_contacts_blocked_until: null });
    },
  },
  {
    title: 'a contact whose hidden id is refused is reached under the number',
    async play(t, stage) {
      const from = stage.somebody();
      const text = 'from a hidden id that is refused';
      await stage.write(stage.tried, { from, text, shows: 'hidden_first' });
      await stage.msgapp.refuseAddresses(stage.tried.phone, 'hidden');
      await stage.send(stage.tried, from, 'to the number');
      await stage.msgapp.refuseAddresses(stage.tried.phone, null);
      t.match(await stage.shown(stage.tried, 'to the number'), [
        { to: from, address: `${from.slice(1)}@s.whatsapp.net`, times: 1 },
      ]);
    },
  },
  {
    title: 'a hidden id in a past that is imported is no phone number',
    async play(t, stage) {
      const [phone, hidden] = [stage.somebody(), '8899000333@lid'];
      const text = 'from before, under a hidden id';
      await stage.msgapp.setPast(phone, {
        contacts: [{ phone: hidden, name: 'Past' }],
        history: [{ from: hidden, text, at: Date.now() - 60_000 }],
      });
      const asked = { phone_number: phone, import_contacts: true, import_existing_chats: true };
      await successOf(stage.api.post('/channels/msgapp-web/connections', asked));
      const path = `/channels/msgapp-web/connections/${phone}`;
      const qr = await until('the QR code', async () => {
        const answer = await stage.api.get(`${path}/qr`);
        return answer.status === 200 ? bodyOf<{ qr: string }>(answer).qr : undefined;
      });
      stage.written.push(text);
      await stage.msgapp.scan(phone, qr);
      const { contact } = await stage.received(text);
      t.match(contact, { phone: null });
      await successOf(stage.api.delete(path));
    },
  },
];
