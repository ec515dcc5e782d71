import { tl } from '@mtcute/core';
import t from 'tap';
import type { Client } from '../../../drivers/chatapp/client.ts';
import type { People } from '../../../drivers/chatapp/people.ts';
import type { CredentialBuffer } from '../../../drivers/chatapp/storage/credential-buffer.ts';
import { FailedLookUps, pauseMs } from '../../../drivers/chatapp/updates/failed-look-ups.ts';
import { ReadMarks } from '../../../drivers/chatapp/updates/read-marks.ts';

const ada = { id: 7, accessHash: '1', phone: null, name: 'Ada', contact: true };

t.test('a refused read stays owed whatever the contact reads later', async (t) => {
  const stored = new Map<string, string | null>();
  // As much of the three as is called.
  const buffer = {
    get: async () => stored,
    put: (name: string, value: string) => stored.set(name, value),
  } as unknown as CredentialBuffer;
  const people = { find: async () => ada, isErased: () => false } as unknown as People;
  const message = (id: number) => ({ _: 'message', out: true, date: 100, id });
  const client = {
    signal: new AbortController().signal,
    call: async () => ({ messages: [message(2), message(1)] }),
  } as unknown as Client;
  const marks = new ReadMarks(buffer, people, { since: 0, networkIdOf: String });

  const first = await marks.read(client, { userId: ada.id, upTo: 2, at: 5 });
  t.equal(first.events.length, 2);
  first.apart?.begun();
  marks.sent(ada.id, 3, 'msg_3');
  const second = await marks.read(client, { userId: ada.id, upTo: 3, at: 6 });
  first.apart?.refused();
  second.apart?.begun();
  second.apart?.kept();
  t.ok(marks.oweReceipts, 'its updates come again after a crash');
  t.same([...stored], [], 'and no mark hides its messages');
});

t.test('whoever is erased while messages are read for a mark gets none', async (t) => {
  const stored = new Map<string, string | null>();
  const buffer = {
    get: async () => stored,
    put: (name: string, value: string) => stored.set(name, value),
  } as unknown as CredentialBuffer;
  let isErased = false;
  const people = { find: async () => ada, isErased: () => isErased } as unknown as People;
  const client = {
    signal: new AbortController().signal,
    call: async () => {
      isErased = true;
      marks.forget(ada.id);
      return { messages: [] };
    },
  } as unknown as Client;
  const marks = new ReadMarks(buffer, people, { since: 0, networkIdOf: String });
  const { apart } = await marks.read(client, { userId: ada.id, upTo: 2, at: 5 });
  apart?.begun();
  apart?.kept();
  t.same([...stored], []);
});

t.test('a refused receipt does not end the wait that the network named', async (t) => {
  const failed = new FailedLookUps();
  const read = { userId: ada.id, upTo: 1, at: 5 };
  failed.failed(read, new tl.RpcError(420, 'FLOOD_WAIT_60'));
  const before = failed.dueIn;
  t.ok(before > pauseMs);
  failed.refused({ ...read, userId: 8 });
  t.ok(failed.dueIn > pauseMs, 'both wait on');
});
