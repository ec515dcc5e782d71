import type { Session } from '../../../core/contracts/driver.ts';
import { isAnswerOutcome, isSent } from '../../../core/driver-values.ts';
import type { MemoryPort } from './port.ts';

/** A session whose answers are checked as the gateway checks them: its port notes what is none, and the call rejects. */
export function checkedSession(session: Session, port: MemoryPort): Session {
  const { forget, typing } = session;
  return {
    link: (request) => session.link(request),
    async answer(field, value) {
      const outcome = await session.answer(field, value);
      if (isAnswerOutcome(outcome)) return outcome;
      throw port.refusal('answer', outcome);
    },
    resume: () => session.resume(),
    async send(message, signal) {
      const sent = await session.send(message, signal);
      if (isSent(sent)) return sent;
      throw port.refusal('send', sent);
    },
    logOut: () => session.logOut(),
    close: () => session.close(),
    ...(typing === undefined ? {} : { typing: typing.bind(session) }),
    ...(forget === undefined ? {} : { forget: forget.bind(session) }),
  };
}
