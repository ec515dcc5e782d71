import { type ConnectionStatus, successOf, until } from '../../harness/story.ts';
import { pace, type Stage, type Story } from './stage.ts';

/** The end that a refusal names. */
function endIn(error: string): string {
  return /until (\S+Z)$/.exec(error)?.[1] ?? `none in: ${error}`;
}

/** Seconds are what the network counts in. */
function inAnHour(): number {
  return Math.floor(Date.now() / 1_000 + 3_600) * 1_000;
}

async function sentMessages({ msgapp }: Stage): Promise<number> {
  return (await msgapp.heard()).message ?? 0;
}

/** Stories of numbers that may write to nobody new, or to nobody, for a while. */
export const limitStories: readonly Story[] = [
  {
    title: 'a first message during a lock fails and says until when, those who wrote are answered',
    async play(t, stage) {
      const { msgapp, tried } = stage;
      const friend = stage.somebody();
      await stage.write(tried, { from: friend, text: 'I wrote first' });
      const end = inAnHour();
      await msgapp.lockNewContacts(tried.phone, end, false);
      const refused = await stage.refused(tried, stage.somebody(), 'cold');
      t.match(refused, /^restricted_new_contacts: /);
      t.equal(endIn(refused), new Date(end).toISOString());
      t.equal(await stage.blockedUntil(tried), new Date(end).toISOString());
      const { status, status_detail } = await stage.account(tried);
      t.equal(status, 'connected');
      t.match(status_detail, new Date(end).toISOString());
      const before = await sentMessages(stage);
      const next = await stage.refused(tried, stage.somebody(), 'colder');
      t.match(next, /^blocked_by_msgapp: /);
      t.equal(endIn(next), new Date(end).toISOString());
      t.equal(await sentMessages(stage), before, 'the network does not hear of another');
      await stage.send(tried, friend, 'an answer during the lock');
    },
  },
  {
    title: 'a lock that is over lets first messages out again',
    async play(t, stage) {
      const { msgapp, tried } = stage;
      await msgapp.lockNewContacts(tried.phone, inAnHour());
      await stage.blockedUntil(tried);
      await msgapp.lockNewContacts(tried.phone, null);
      await stage.unhindered(tried);
      await stage.send(tried, stage.somebody(), 'warm again');
      t.match(await stage.account(tried), { new_contacts_blocked_until: null });
    },
  },
  {
    title: 'a first message that is refused without a lock blames no lock',
    async play(t, stage) {
      const { msgapp, tried } = stage;
      await msgapp.refuseAddresses(tried.phone, 'both');
      const refused = await stage.refused(tried, stage.somebody(), 'no lock, and no');
      await msgapp.refuseAddresses(tried.phone, null);
      t.match(refused, /^restricted_new_contacts: .* has to write first$/);
      t.match(await stage.account(tried), { new_contacts_blocked_until: null });
      await stage.send(tried, stage.somebody(), 'no lock, and yes');
    },
  },
  {
    title: 'a quota of new contacts that is used up says until when',
    async play(t, stage) {
      const { msgapp, tried } = stage;
      // Soon over, as no other word of the network ends it, but not before a busy machine has listed it.
      const end = Math.floor(Date.now() / 1_000 + 10) * 1_000;
      await msgapp.exhaustQuota(tried.phone, end);
      const refused = await stage.refused(tried, stage.somebody(), 'one too many');
      t.match(refused, /^new_contact_quota: /);
      t.equal(endIn(refused), new Date(end).toISOString());
      t.equal(await stage.blockedUntil(tried), new Date(end).toISOString());
      await msgapp.exhaustQuota(tried.phone, null);
      await stage.unhindered(tried);
      await stage.send(tried, stage.somebody(), 'the next day');
    },
  },
  {
    title: 'an answer carries the token that its contact has sent',
    async play(t, stage) {
      const { msgapp, tried } = stage;
      const from = stage.somebody();
      await msgapp.wantTokens(tried.phone, true);
      await stage.write(tried, { from, text: 'with a token' });
      await stage.send(tried, from, 'a reply with the token');
      await msgapp.drop(tried.phone);
      await stage.send(tried, from, 'and one after a reconnect');
      await msgapp.wantTokens(tried.phone, false);
      t.equal((await stage.shown(tried, 'a reply with the token')).length, 1);
    },
  },
  {
    title: 'messages leave with pauses between them, in which contacts see typing',
    async play(t, stage) {
      const { chat, chatapp, line, msgapp } = stage;
      const friends = Array.from({ length: 6 }, () => stage.somebody());
      for (const from of friends) await stage.write(line, { from, text: `paced friend ${from}` });
      const texts = friends.map((to) => `paced to ${to}`);
      await Promise.all(friends.map((to, n) => stage.send(line, to, texts[n] ?? '')));
      const at = (await stage.shown(line, ...texts)).map((shown) => shown.at);
      const took = Math.max(...at) - Math.min(...at);
      // The first may be late, by less than two of the five pauses.
      t.ok(took >= 3 * pace.min, `${took} ms for ${at.length} messages`);
      const typed = await msgapp.typed(line.phone);
      t.ok(friends.filter((friend) => typed.includes(friend)).length >= 3, 'typing is shown');
      const { contact } = await stage.writeChat(stage.somebody(), 'paced friend in a chat');
      const to = { contact_id: contact.id };
      const chatTexts = ['paced in a chat 1', 'paced in a chat 2', 'paced in a chat 3'];
      await Promise.all(chatTexts.map((text) => stage.send(chat, to, text)));
      t.ok(((await chatapp.calls(chat.phone))['messages.setTyping'] ?? 0) > 0, 'there too');
    },
  },
  {
    title: 'a chat contact who never wrote is refused until a time that is said',
    async play(t, stage) {
      const { chat, chatapp } = stage;
      const [stranger, other, friend] = [stage.somebody(), stage.somebody(), stage.somebody()];
      const contacts = [stranger, other].map((phone) => ({ phone, name: phone }));
      await chatapp.put(chat.phone, { contacts });
      await until('the contacts', async () =>
        (await stage.contacts(stranger, other)) === 2 ? true : undefined,
      );
      const { contact } = await stage.writeChat(friend, 'I wrote first, in a chat');
      await chatapp.put(chat.phone, { limited: true });
      const refused = await stage.refused(chat, stranger, 'cold, in a chat');
      t.match(refused, /^blocked_by_chatapp: /);
      t.equal(await stage.blockedUntil(chat), endIn(refused));
      t.equal(endIn(await stage.refused(chat, other, 'colder, in a chat')), endIn(refused));
      await stage.send(chat, { contact_id: contact.id }, 'an answer to a friend');
      await chatapp.put(chat.phone, { limited: false });
    },
  },
  {
    title: 'a wait that the network asks for delays a message and loses none',
    async play(t, stage) {
      const { chat, chatapp } = stage;
      const { contact } = await stage.writeChat(stage.somebody(), 'before the flood');
      const to = { contact_id: contact.id };
      await chatapp.flood(chat.phone, ['messages.sendMessage'], 900);
      await Promise.all([stage.send(chat, to, 'flooded one'), stage.send(chat, to, 'flooded two')]);
      const shown = (await chatapp.outbox(chat.phone)).filter(({ text }) => /^flooded/.test(text));
      t.equal(shown.length, 2);
    },
  },
  {
    title: 'a frozen account keeps its messages, and says when the network deletes it',
    async play(t, stage) {
      const { api, chat, chatapp } = stage;
      const { contact } = await stage.writeChat(stage.somebody(), 'before the frost');
      const to = { contact_id: contact.id };
      const path = `/channels/chatapp/connect/${chat.phone}/status`;
      await chatapp.flood(chat.phone, ['messages.sendMessage'], 900);
      const kept = await stage.accept(chat, to, 'kept through the frost');
      await chatapp.put(chat.phone, { frozenUntil: Date.UTC(2099, 0, 1) / 1_000 });
      const frozen = await until('the account to be restricted', async () => {
        const status = await successOf<ConnectionStatus>(api.get(path));
        return status.status === 'restricted' ? status : undefined;
      });
      t.match(frozen, { retry_at: null, detail: /deletes the account on 2099-01-01/ });
      const answer = await api.post('/messages', { account_id: chat.account, to, text: 'no' });
      t.match(answer, { status: 409, body: { error_code: 'no_connected_account' } });
      await chatapp.put(chat.phone, { frozenUntil: null });
      await stage.unhindered(chat);
      stage.sent.push('kept through the frost');
      t.match(await stage.fate(kept), { status: 'sent' });
    },
  },
];
