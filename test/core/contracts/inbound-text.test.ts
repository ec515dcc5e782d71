import t from 'tap';
import {
  contactText,
  groupInviteText,
  locationText,
  pollText,
  unsupportedText,
} from '../../../core/contracts/inbound-text.ts';

t.test('a message that is no text reads as one line in brackets', async (t) => {
  t.equal(
    locationText(52.52, 13.405, 'Alexanderplatz'),
    '[location: 52.5200, 13.4050, Alexanderplatz]',
  );
  t.equal(locationText(-33.86, 151.2, null), '[location: -33.8600, 151.2000]');
  t.equal(contactText('Ada', ['+49 151 1234567']), '[contact: Ada, +49 151 1234567]');
  t.equal(contactText(null, []), '[contact]');
  t.equal(pollText('Lunch?', ['Pizza', 'Sushi']), '[poll: Lunch? · Pizza · Sushi]');
  t.equal(groupInviteText('Chess club'), '[group invite: Chess club]');
  t.equal(groupInviteText(null), '[group invite]');
  t.equal(unsupportedText('payment'), '[unsupported: payment]');
});

t.test('what the sender typed neither ends the line nor makes it endless', async (t) => {
  t.equal(pollText('a]\n[b', ['c\r\nd']), '[poll: a b · c d]');
  t.equal(pollText('q', Array(50).fill('o')).split(' · ').length, 13);
  t.equal(unsupportedText('x'.repeat(5_000)).length, '[unsupported: …]'.length + 200);
});
