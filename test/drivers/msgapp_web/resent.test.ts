import t from 'tap';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { resentIn } from '../../../drivers/msgapp_web/resent.ts';

t.test('what the phone hands over and nobody can read does not hide the rest', async (t) => {
  const library = await loadLibrary();
  const { WebMessageInfo } = library.proto;
  const key = { id: 'X', remoteJid: '12025550123@s.whatsapp.net', fromMe: false };
  const whole = WebMessageInfo.encode({ key, message: { conversation: 'hello' } }).finish();
  const handedOver = [Buffer.from([0xff, 0xff]), whole].map((webMessageInfoBytes) => ({
    placeholderMessageResendResponse: { webMessageInfoBytes },
  }));
  const answer = { peerDataOperationResult: handedOver };
  const message = { protocolMessage: { peerDataOperationRequestResponseMessage: answer } };
  t.match(resentIn(library, { key, message }), [
    { id: 'X', message: { message: { conversation: 'hello' } } },
  ]);
});
