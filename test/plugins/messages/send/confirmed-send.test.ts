import t from 'tap';
import { systemClock } from '../../../../core/contracts/clock.ts';
import { createContactLane } from '../../../../plugins/contacts/create.ts';
import { sendingChannel } from '../../../../plugins/messages/send/choose.ts';
import { sendQuestion } from '../../../../plugins/messages/send/question.ts';
import { makeAskSend, makeSend } from '../../../../plugins/messages/send/service.ts';
import { databases } from '../../../harness/databases.ts';
import { makeTenant, openStage } from '../stage.ts';

const bodies = {
  allowHttp: false,
  addresses: () => ({ forms: new Map(), faults: new Map() }),
  isKnown: async () => true,
};

for (const { name, create } of databases) {
  t.test(`a confirmed send goes out from the account that was asked about, ${name}`, async (t) => {
    const { url } = await create(t);
    const { lanes, storage, ...stage } = await openStage(t, url);
    const { tenantId, accountIds } = await makeTenant({ lanes, storage, ...stage }, 2);
    const [asked = '', other = ''] = accountIds;
    const connectOnly = async (id: string): Promise<void> => {
      const accounts = () => storage.connections.write('accounts').where({ tenant_id: tenantId });
      await accounts().update({ status: 'disconnected', linked: 0 });
      await accounts().where({ id }).update({ status: 'connected', linked: 1 });
    };
    const rules = {
      channel: () => ({ recipients: 'phone', maxText: null, address: '' }) as const,
      idempotencyMs: 86_400_000,
    };
    const { accept } = lanes;
    const parts = { read: storage.read, clock: systemClock, rules, accept };
    const ask = makeAskSend((input) => sendQuestion(parts, input), bodies);
    const send = makeSend(accept, bodies);
    const body = { to: { phone: '+12025550123' }, text: 'Hi' };
    const key = 'confirmation of the call';

    await connectOnly(asked);
    const question = await ask({ tenantId, confirmSends: true }, body, key);
    t.match(question, { text: new RegExp(`From: ${asked} `), accountId: asked });
    const confirmed = { tenantId, confirmSends: false, confirmedAccountId: asked };
    await connectOnly(other);
    await t.rejects(send(confirmed, body, key), { code: 'no_connected_account' });
    const anew = await ask({ tenantId, confirmSends: true }, body, key);
    t.match(anew, { accountId: other }, 'the next question is about the other');

    await connectOnly(asked);
    const sent = await send(confirmed, body, key);
    t.equal(sent.account_id, asked);
    await connectOnly(other);
    t.equal(await ask({ tenantId, confirmSends: true }, body, key), null, 'it is done');
    t.same(await send({ tenantId }, body, key), sent, 'and a repeat is the same request');

    const accounts = storage.connections.write('accounts').where({ tenant_id: tenantId });
    await accounts.update({ channel: 'irc' });
    const named = { tenantId, channel: 'irc', phone: null, networkId: 'ada', name: '' };
    const made = await storage.submit(createContactLane, named);
    const elsewhere = { ...rules, channel: (name: string) => sendingChannel(name, null) };
    const askElsewhere = makeAskSend(
      (input) => sendQuestion({ ...parts, rules: elsewhere }, input),
      bodies,
    );
    const toAda = { to: { contact_id: made?.contact.id ?? '' }, text: 'Hi' };
    const words = { text: /^To: ada$/m };
    t.match(await askElsewhere({ tenantId, confirmSends: true }, toAda), words, 'without a driver');
  });
}
