import t from 'tap';
import { importsOf } from '../../../drivers/simulated/network/imports.ts';
import { newRecord } from '../../../drivers/simulated/network/phone-record.ts';
import { profileOf } from '../../../drivers/simulated/profiles.ts';
import { phoneNumber } from '../../harness/story.ts';

const address = { network: 'ten_a', channel: 'msgapp_web', phone: phoneNumber(1) };
const entry = (text: string, at: number) => ({ from: phoneNumber(9_000), text, at });

function historyIds(history: readonly ReturnType<typeof entry>[]) {
  const asked = { contacts: false, history: true };
  const offers = importsOf(address, profileOf('msgapp_web'), { ...newRecord, history }, asked);
  return offers.flatMap((offer) =>
    offer.type === 'history' ? offer.messages.map(({ networkId }) => networkId) : [],
  );
}

t.test('a history message keeps its id, whatever else comes into the history', async (t) => {
  const [one, other] = [entry('twice', 2), entry('once', 3)];
  const ids = historyIds([one, one, other]);
  t.equal(new Set(ids).size, 3, 'equal messages are not one');
  t.same(historyIds([entry('older', 1), one, one, other]).slice(1), ids);
  const own = { ...entry('to themselves', 1), from: address.phone };
  t.same(historyIds([own, one, one, other]), ids);
});
