import { setTimeout as sleep } from 'node:timers/promises';
import { until, untilStatus } from '../../harness/story.ts';
import { linkLive } from '../msgapp_web/linking.ts';
import { copyOf, type Story } from './stage.ts';

/** Stories of devices and keys that change, of outages and of restored copies. */
export const sessionStories: readonly Story[] = [
  {
    title: 'a contact that sets its phone up anew is read, and reads what was under way',
    async play(t, stage) {
      const from = stage.somebody();
      await stage.write(stage.line, { from, text: 'from the old phone' });
      await stage.send(stage.line, from, 'to the old phone');
      await stage.msgapp.reinstall(from);
      await stage.send(stage.line, from, 'to a phone with other keys');
      await until('the contact to read it', async () =>
        (await stage.shown(stage.line, 'to a phone with other keys')).length > 0 ? true : undefined,
      );
      await stage.write(stage.line, { from, text: 'from the new phone' });
      await stage.send(stage.line, from, 'to the new phone');
      t.match(await stage.shown(stage.line, 'to a phone with other keys', 'to the new phone'), [
        { times: 1 },
        { times: 1 },
      ]);
    },
  },
  {
    title: 'a contact that sets its phone up anew and writes first is read',
    async play(t, stage) {
      const from = stage.somebody();
      const { contact } = await stage.write(stage.line, { from, text: 'written with old keys' });
      await stage.msgapp.reinstall(from);
      const later = await stage.write(stage.line, { from, text: 'written with new keys' });
      t.equal(later.contact.id, contact.id);
    },
  },
  {
    title: 'a contact that links a further device gets messages there too',
    async play(t, stage) {
      const from = stage.somebody();
      await stage.write(stage.line, { from, text: 'from my only device' });
      await stage.send(stage.line, from, 'to one device');
      await stage.msgapp.addDevice(stage.line.phone, from);
      await until('the further device to be known', async () => {
        const text = `to two devices ${Date.now()}`;
        await stage.send(stage.line, from, text);
        const [shown] = await stage.shown(stage.line, text);
        return shown?.devices === 2 ? true : undefined;
      });
      t.match(await stage.shown(stage.line, 'to one device'), [{ devices: 1 }]);
    },
  },
  {
    title: 'what was written during an outage arrives once and in order',
    async play(t, stage) {
      const { msgapp, line } = stage;
      const from = stage.somebody();
      await msgapp.setReachable(line.phone, false);
      const texts = [1, 2, 3, 4].map((n) => `during the outage ${n}`);
      for (const text of texts) await msgapp.write(line.phone, { from, name: 'Ada', text });
      stage.written.push(...texts);
      await msgapp.setReachable(line.phone, true);
      await stage.received('during the outage 4');
      const received = (await stage.messages('inbound')).map(({ text }) => text);
      t.same(received.filter((text) => texts.includes(text)).reverse(), texts);
    },
  },
  {
    title: 'what was written in a chat during an outage arrives once and in order',
    async play(t, stage) {
      const { chatapp, chat } = stage;
      const from = stage.somebody();
      await stage.writeChat(from, 'before the outage');
      await chatapp.setReachable(false);
      const texts = [1, 2, 3, 4].map((n) => `during the outage of a chat ${n}`);
      for (const text of texts) await chatapp.write(chat.phone, { from, text });
      stage.written.push(...texts);
      await chatapp.setReachable(true);
      await stage.received('during the outage of a chat 4');
      const received = (await stage.messages('inbound')).map(({ text }) => text);
      t.same(received.filter((text) => texts.includes(text)).reverse(), texts);
    },
  },
  {
    title: 'a phone that is unlinked and linked again keeps its account and its contacts',
    async play(t, stage) {
      const { api, msgapp, tried } = stage;
      const from = stage.somebody();
      const { contact } = await stage.write(tried, { from, text: 'before the link was ended' });
      await stage.send(tried, from, 'an answer through the old link');
      await msgapp.unlink(tried.phone);
      const ended = await untilStatus(api, 'msgapp', tried.phone, 'disconnected');
      t.match(ended, { reason: 'logged_out', detail: /connect the account again/ });
      t.equal(await linkLive(api, msgapp, tried.phone), tried.account);
      const again = await stage.write(tried, { from, text: 'after it was linked again' });
      t.equal(again.contact.id, contact.id);
      await stage.send(tried, from, 'an answer through the new link');
      t.match(await stage.shown(tried, 'an answer through the new link'), [{ times: 1 }]);
    },
  },
  {
    title: 'a gateway restored from an older copy reads and answers everybody again',
    async play(t, stage) {
      const { gateway, line, msgapp } = stage;
      const from = stage.somebody();
      const stranger = stage.somebody();
      const known = await stage.writeChat(stranger, 'not in any address book');
      await stage.write(line, { from, text: 'before the copy' });
      await stage.send(line, from, 'an answer before the copy');
      await gateway.stop();
      const restore = await copyOf(gateway.dataDir);
      await gateway.start();
      await stage.connected();
      for (const n of [1, 2]) {
        await msgapp.write(line.phone, { from, name: 'Ada', text: `lost with the disk ${n}` });
        await stage.received(`lost with the disk ${n}`);
        const lost = await stage.accept(line, from, `an answer lost with the disk ${n}`);
        await stage.fate(lost);
      }
      await gateway.stop();
      await restore();
      await gateway.start();
      await stage.connected();
      await stage.write(line, { from, text: 'after the copy' });
      await stage.send(line, from, 'an answer after the copy');
      await until('the contact to read it', async () =>
        (await stage.shown(line, 'an answer after the copy')).length > 0 ? true : undefined,
      );
      await stage.send(stage.chat, { contact_id: known.contact.id }, 'to somebody met before');
      // What the network might show a second time.
      await sleep(200);
      t.match(await stage.shown(line, 'an answer after the copy'), [{ times: 1 }]);
    },
  },
];
