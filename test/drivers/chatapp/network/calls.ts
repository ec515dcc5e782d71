import { randomBytes } from 'node:crypto';
import { Long } from '@mtcute/core';
import { type Connection, never, Refusal } from './connection.ts';
import type { Network, SessionKey } from './network.ts';
import {
  dataCenter,
  fileBytes,
  messageObject,
  otherDataCenter,
  stateObject,
  storeFile,
  updateObject,
  updatesObject,
  userObject,
} from './objects.ts';
import { noPassword, PasswordQuestion } from './password.ts';
import { type BoxMessage, now, type Subscriber } from './subscriber.ts';
import type { Answer, TlObject } from './tl.ts';

/** How many chats one answer names at most, whatever was asked for. */
const dialogsAtOnce = 5;
/** How many steps one answer about missed updates tells at most. */
const sliceSize = 100;

interface Call {
  readonly connection: Connection;
  readonly key: SessionKey;
  readonly request: TlObject;
}

type Method = (call: Call) => Answer | typeof never | Promise<Answer | typeof never>;

/** The methods of the network that the driver and the library call. */
export class Calls {
  readonly #network: Network;
  readonly #parts = new Map<string, Map<number, Buffer>>();
  readonly #methods: Readonly<Record<string, Method>>;

  constructor(network: Network) {
    this.#network = network;
    this.#methods = {
      'auth.sendCode': ({ request }) => this.#sendCode(request),
      'auth.signIn': ({ key, request }) => this.#signIn(key, request),
      'auth.exportLoginToken': ({ key }) => this.#exportToken(key),
      'auth.importLoginToken': ({ key, request }) => this.#importToken(key, request),
      'help.getConfig': () => configObject(this.#network),
      'account.getPassword': ({ key }) => this.#password(key),
      'auth.checkPassword': ({ key, request }) => this.#checkPassword(key, request),
      'auth.logOut': ({ key }) => this.#logOut(key),
      'auth.exportAuthorization': ({ key }) => this.#export(owner(key)),
      'auth.importAuthorization': ({ key, request }) => this.#import(key, request),
      'users.getUsers': ({ key }) => {
        const self = owner(key);
        return [userObject(self.person, self)];
      },
      'contacts.getContacts': ({ key }) => this.#contacts(owner(key)),
      'contacts.resolvePhone': ({ key, request }) => this.#resolve(owner(key), request),
      'help.getAppConfig': ({ key }) => appConfig(owner(key)),
      'updates.getState': ({ key }) => stateObject(owner(key).pts),
      'updates.getDifference': ({ key, request }) => this.#difference(owner(key), request),
      'messages.sendMessage': (call) => this.#send(call, null, null),
      'messages.sendMedia': (call) => this.#sendMedia(call),
      'messages.setTyping': ({ key }) => owner(key) !== null,
      'messages.getDialogs': ({ key, request }) => this.#dialogs(owner(key), request),
      'messages.getHistory': ({ key, request }) => this.#history(owner(key), request),
      'upload.saveFilePart': ({ request }) => this.#part(request),
      'upload.saveBigFilePart': ({ request }) => this.#part(request),
      'upload.getFile': ({ key, request }) => file(owner(key), request),
    };
  }

  /** @throws Refusal */
  async carryOut(
    connection: Connection,
    key: SessionKey,
    request: TlObject,
  ): Promise<Answer | typeof never> {
    const method = this.#methods[request._];
    if (method === undefined) throw new Refusal(400, 'METHOD_INVALID');
    return await method({ connection, key, request });
  }

  #sendCode({ phoneNumber }: TlObject): TlObject {
    const subscriber = this.#network.subscribers.get(`+${phoneNumber}`);
    if (subscriber === undefined) throw new Refusal(400, 'PHONE_NUMBER_INVALID');
    const { hash: phoneCodeHash } = subscriber.newCode();
    const { email: emailPattern } = subscriber;
    const type =
      emailPattern === null
        ? { _: 'auth.sentCodeTypeApp', length: 5 }
        : { _: 'auth.sentCodeTypeEmailCode', emailPattern, length: 5 };
    return { _: 'auth.sentCode', type, phoneCodeHash };
  }

  #signIn(key: SessionKey, request: TlObject): TlObject {
    const { phoneNumber, phoneCode, phoneCodeHash, emailVerification } = request;
    const subscriber = this.#network.subscribers.get(`+${phoneNumber}`);
    const isByEmail = typeof subscriber?.email === 'string';
    if (subscriber === undefined || subscriber.codeHash !== phoneCodeHash) {
      throw new Refusal(400, isByEmail ? 'EMAIL_VERIFY_EXPIRED' : 'PHONE_CODE_EXPIRED');
    }
    const { code } = isByEmail ? ((emailVerification ?? {}) as TlObject) : { code: phoneCode };
    if (subscriber.code !== code) {
      throw new Refusal(400, isByEmail ? 'CODE_INVALID' : 'PHONE_CODE_INVALID');
    }
    subscriber.code = null;
    subscriber.codeHash = null;
    return this.#letIn(key, subscriber);
  }

  /** @throws Refusal when there is a second factor */
  #letIn(key: SessionKey, { letsIn: subscriber }: Subscriber): TlObject {
    if (subscriber.isVacant) return { _: 'auth.authorizationSignUpRequired' };
    if (subscriber.password !== null) {
      key.halfIn = subscriber;
      throw new Refusal(401, 'SESSION_PASSWORD_NEEDED');
    }
    key.subscriber = subscriber;
    return { _: 'auth.authorization', user: userObject(subscriber.person, subscriber) };
  }

  #exportToken(key: SessionKey): TlObject {
    this.#network.tokensAsked += 1;
    if (key.loginRefusal !== null) throw new Refusal(400, key.loginRefusal);
    if (key.moveTo !== null && key.halfIn !== null) {
      const token = randomBytes(16);
      this.#network.moving.set(token.toString('hex'), key.halfIn);
      return { _: 'auth.loginTokenMigrateTo', dcId: key.moveTo, token };
    }
    if (key.halfIn !== null) {
      const authorization = this.#letIn(key, key.halfIn);
      return { _: 'auth.loginTokenSuccess', authorization };
    }
    if (key.lastToken) throw new Refusal(400, 'AUTH_TOKEN_EXPIRED');
    if (key.token === null || key.token.expires <= Date.now()) {
      key.token = { bytes: randomBytes(16), expires: Date.now() + this.#network.tokenMs };
    }
    const { bytes } = key.token;
    const expires = key.token.expires + this.#network.clockMs;
    return { _: 'auth.loginToken', token: bytes, expires: Math.floor(expires / 1000) };
  }

  #importToken(key: SessionKey, { token }: TlObject): TlObject {
    const scanned = this.#network.moving.get(Buffer.from(token as Uint8Array).toString('hex'));
    if (scanned === undefined) throw new Refusal(400, 'AUTH_TOKEN_EXPIRED');
    return { _: 'auth.loginTokenSuccess', authorization: this.#letIn(key, scanned) };
  }

  async #password(key: SessionKey): Promise<TlObject> {
    const password = (key.halfIn ?? key.subscriber)?.password ?? null;
    if (password === null) return noPassword();
    key.question = await PasswordQuestion.ask(this.#network.crypto, password);
    return key.question.object();
  }

  #checkPassword(key: SessionKey, { password }: TlObject): TlObject {
    const { question, halfIn } = key;
    if (question === null || halfIn === null) throw new Refusal(400, 'SRP_ID_INVALID');
    if (!question.isProvedBy(password as TlObject)) throw new Refusal(400, 'PASSWORD_HASH_INVALID');
    key.subscriber = halfIn;
    key.halfIn = null;
    return { _: 'auth.authorization', user: userObject(halfIn.person, halfIn) };
  }

  #logOut(key: SessionKey): TlObject {
    key.refusal = 'AUTH_KEY_UNREGISTERED';
    return { _: 'auth.loggedOut' };
  }

  /** Announces a session to another data center, which asks for the secret. */
  #export(self: Subscriber): TlObject {
    const bytes = randomBytes(16);
    this.#network.exported.set(bytes.toString('hex'), self);
    return { _: 'auth.exportedAuthorization', id: Long.fromNumber(self.person.id), bytes };
  }

  #import(key: SessionKey, { bytes }: TlObject): TlObject {
    const self = this.#network.exported.get(Buffer.from(bytes as Uint8Array).toString('hex'));
    if (self === undefined) throw new Refusal(400, 'AUTH_BYTES_INVALID');
    key.subscriber = self;
    return { _: 'auth.authorization', user: userObject(self.person, self) };
  }

  #contacts(self: Subscriber): TlObject {
    const ids = [...self.contacts.keys()];
    const contacts = ids.map((userId) => ({ _: 'contact', userId, mutual: false }));
    return { _: 'contacts.contacts', contacts, savedCount: 0, users: this.#users(self, ids) };
  }

  #resolve(self: Subscriber, { phone }: TlObject): TlObject {
    const person = [...this.#network.people.values()].find((one) => one.phone === `+${phone}`);
    if (person === undefined) throw new Refusal(400, 'PHONE_NOT_OCCUPIED');
    const peer = { _: 'peerUser', userId: person.id };
    return { _: 'contacts.resolvedPeer', peer, chats: [], users: this.#users(self, [person.id]) };
  }

  #users(self: Subscriber, ids: readonly number[]): TlObject[] {
    return ids.flatMap((id) => {
      const person = this.#network.people.get(id);
      return person === undefined ? [] : [userObject(person, self)];
    });
  }

  #difference(self: Subscriber, { pts }: TlObject): TlObject {
    const missed = self.steps.filter((step) => step.pts > Number(pts));
    if (missed.length === 0) return { _: 'updates.differenceEmpty', date: now(), seq: 0 };
    const part = missed.slice(0, sliceSize);
    const state = stateObject(part.at(-1)?.pts ?? self.pts);
    const messages: BoxMessage[] = [];
    const otherUpdates: TlObject[] = [];
    const groups: TlObject[] = [];
    for (const step of part) {
      const { what } = step;
      if (what.type === 'group') {
        groups.push(updateObject(self, step).message as TlObject);
      } else if (what.type === 'message') {
        const message = self.message(what.id);
        if (message === undefined) continue;
        messages.push(message);
        if (message.randomId === null) continue;
        const randomId = Long.fromString(message.randomId);
        otherUpdates.push({ _: 'updateMessageID', id: message.id, randomId });
      } else {
        otherUpdates.push(updateObject(self, step));
      }
    }
    const users = this.#users(self, [...new Set(messages.map(({ peer }) => peer))]);
    const common = {
      newMessages: [...messages.map(messageObject), ...groups],
      newEncryptedMessages: [],
      otherUpdates,
      chats: [],
      users,
    };
    if (part.length === missed.length) return { _: 'updates.difference', ...common, state };
    return { _: 'updates.differenceSlice', ...common, intermediateState: state };
  }

  /** Chats by their last messages, the newest first. */
  #dialogs(self: Subscriber, { offsetId }: TlObject): TlObject {
    const tops = new Map(self.messages.map((message) => [message.peer, message]));
    const all = [...tops.values()].sort((one, other) => other.id - one.id);
    const after = all.filter(({ id }) => Number(offsetId) === 0 || id < Number(offsetId));
    const messages = after.slice(0, dialogsAtOnce);
    const unread = ['', 'Mentions', 'Reactions', 'PollVotes'].map((of) => [`unread${of}Count`, 0]);
    const dialogs = messages.map(({ id, peer }) => ({
      _: 'dialog',
      peer: { _: 'peerUser', userId: peer },
      topMessage: id,
      ...{ readInboxMaxId: 0, readOutboxMaxId: 0 },
      ...Object.fromEntries(unread),
      notifySettings: { _: 'peerNotifySettings' },
    }));
    return {
      _: 'messages.dialogsSlice',
      count: all.length,
      dialogs,
      messages: messages.map(messageObject),
      chats: [],
      users: this.#users(
        self,
        messages.map(({ peer }) => peer),
      ),
    };
  }

  #history(self: Subscriber, { peer, offsetId, minId, limit }: TlObject): TlObject {
    const userId = (peer as TlObject).userId;
    const before = Number(offsetId) || Number.POSITIVE_INFINITY;
    const messages = self.messages
      .filter((one) => one.peer === userId && one.id < before && one.id > Number(minId))
      .filter(({ id }) => !self.isDeleted(id))
      .reverse()
      .slice(0, Number(limit))
      .map(messageObject);
    return { _: 'messages.messages', messages, topics: [], chats: [], users: [] };
  }

  #sendMedia(call: Call): Answer | typeof never | Promise<Answer> {
    const media = call.request.media as TlObject;
    const input = media.file as TlObject | undefined;
    if (input === undefined) throw new Refusal(400, 'MEDIA_INVALID');
    const isPhoto = media._ === 'inputMediaUploadedPhoto';
    if (isPhoto && !/\.(jpe?g|png|webp)$/.test(String(input.name))) {
      throw new Refusal(400, 'PHOTO_EXT_INVALID');
    }
    const id = String(input.id);
    const parts = [...(this.#parts.get(id) ?? [])].sort(([one], [other]) => one - other);
    const stored = storeFile(`file-${id}`, Buffer.concat(parts.map(([, bytes]) => bytes)));
    return this.#send(call, isPhoto ? 'photo' : 'document', stored);
  }

  #part({ fileId, filePart, bytes }: TlObject): boolean {
    const id = String(fileId);
    const parts = this.#parts.get(id) ?? new Map<number, Buffer>();
    this.#parts.set(id, parts);
    // A copy: the packet's memory is used again.
    parts.set(Number(filePart), Buffer.from(bytes as Uint8Array));
    return true;
  }

  #send(
    { connection, key, request }: Call,
    media: BoxMessage['media'],
    stored: string | null,
  ): Answer | typeof never | Promise<Answer> {
    const self = owner(key);
    const peer = this.#network.people.get(Number((request.peer as TlObject).userId));
    if (peer === undefined) throw new Refusal(400, 'PEER_ID_INVALID');
    if (self.frozenUntil !== null) throw new Refusal(420, 'FROZEN_METHOD_INVALID');
    if (self.limited && !self.known.has(peer.id)) throw new Refusal(400, 'PEER_FLOOD');
    if (self.treatment === 'refuse') throw new Refusal(400, 'INPUT_USER_DEACTIVATED');
    const randomId = String(request.randomId);
    self.handedIn.set(randomId, (self.handedIn.get(randomId) ?? 0) + 1);
    if (self.byRandomId.has(randomId)) throw new Refusal(500, 'RANDOM_ID_DUPLICATE');
    const message: BoxMessage = {
      id: self.nextId(),
      peer: peer.id,
      out: true,
      text: String(request.message),
      date: now(),
      media,
      file: stored,
      randomId,
    };
    self.byRandomId.set(randomId, message.id);
    const step = self.add(message);
    this.#network.announce(self, step, connection);
    if (self.readsAtOnce) {
      // After the answer, as on the real network.
      setImmediate(() => {
        const what = { type: 'read', peer: peer.id, upTo: message.id } as const;
        this.#network.announce(self, self.step(what));
      });
    }
    if (self.treatment === 'hold') return never;
    const answer = updatesObject(
      [
        { _: 'updateMessageID', id: message.id, randomId: request.randomId },
        updateObject(self, step),
      ],
      [userObject(peer, self)],
    );
    const { measured } = self;
    if (measured === null) return answer;
    return new Promise<Answer>((resolve) => {
      measured.came(
        peer.phone,
        () => message.text,
        () => resolve(answer),
      );
    });
  }
}

/** @throws Refusal when nobody is logged in with this key */
function owner({ subscriber }: SessionKey): Subscriber {
  if (subscriber === null) throw new Refusal(401, 'AUTH_KEY_UNREGISTERED');
  return subscriber;
}

/** Numbers of the configuration that nobody reads. */
const configNumbers = [
  'chatSizeMax',
  'megagroupSizeMax',
  'forwardedCountMax',
  'onlineUpdatePeriodMs',
  'offlineBlurTimeoutMs',
  'offlineIdleTimeoutMs',
  'onlineCloudTimeoutMs',
  'notifyCloudDelayMs',
  'notifyDefaultDelayMs',
  'pushChatPeriodMs',
  'pushChatLimit',
  'editTimeLimit',
  'revokeTimeLimit',
  'revokePmTimeLimit',
  'ratingEDecay',
  'stickersRecentLimit',
  'channelsReadMediaPeriod',
  'callReceiveTimeoutMs',
  'callRingTimeoutMs',
  'callConnectTimeoutMs',
  'callPacketTimeoutMs',
  'captionLengthMax',
  'messageLengthMax',
];

function configObject(network: Network): TlObject {
  const dcOptions = [dataCenter, otherDataCenter].map((id) => {
    return { _: 'dcOption', id, ipAddress: '127.0.0.1', port: network.portOf(id) };
  });
  return {
    _: 'config',
    ...Object.fromEntries(configNumbers.map((name) => [name, 1_000])),
    date: now(),
    expires: now() + 3_600,
    testMode: false,
    thisDc: dataCenter,
    dcOptions,
    dcTxtDomainName: '',
    meUrlPrefix: '',
    webfileDcId: dataCenter,
  };
}

function appConfig({ frozenUntil }: Subscriber): TlObject {
  const number = (key: string, value: number) => ({
    _: 'jsonObjectValue',
    key,
    value: { _: 'jsonNumber', value },
  });
  const frozen =
    frozenUntil === null
      ? []
      : [number('freeze_since_date', 1), number('freeze_until_date', frozenUntil)];
  return { _: 'help.appConfig', hash: 1, config: { _: 'jsonObject', value: frozen } };
}

/** @param _reader who is let in: files are given to nobody else */
function file(_reader: Subscriber, { location, offset, limit }: TlObject): TlObject {
  const { fileReference } = location as TlObject;
  const whole = fileBytes(Buffer.from(fileReference as Uint8Array).toString());
  const bytes = whole.subarray(Number(offset), Number(offset) + Number(limit));
  return { _: 'upload.file', type: { _: 'storage.fileJpeg' }, mtime: now(), bytes };
}
