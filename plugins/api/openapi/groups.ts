import { isDeepStrictEqual } from 'node:util';
import type { AnyOperation, GroupDeclaration, OperationGroup } from '../../../core/operation.ts';

/** The specification's groups in the order of the documentation, each with the name and description of its tag. */
const groups: Readonly<Record<OperationGroup, GroupDeclaration>> = {
  messages: {
    name: 'Messages',
    description:
      'Send text messages with at most one media URL, read them, and listen for new ones by long poll. ' +
      'A send is queued and answered at once; read its outcome by polling the message or by webhook.',
  },
  contacts: {
    name: 'Contacts',
    description:
      'The people messaged and heard from, per channel, with the flags that guard them: ' +
      'do-not-disturb, private, automation paused.',
  },
  accounts: {
    name: 'Accounts',
    description: 'The connected accounts with their status, limits and warm-up.',
  },
  chatapp: {
    name: 'Chatapp connections',
    description: 'Connect a `chatapp` account by login code or QR, and disconnect it.',
  },
  msgapp: {
    name: 'Msgapp connections',
    description:
      'Connect a `msgapp` account by QR code or pairing code, and disconnect it. ' +
      'Poll the status until it is `connected`.',
  },
  channels: {
    name: 'Channels',
    description:
      'Which channels there are, and one way to connect an account that serves them all, those of drivers from ' +
      'outside included. `msgapp_web` and `chatapp` can be connected here or by the operations of their own: the ' +
      'account is the same. `/channels/msgapp-web/connections` with a hyphen is always the operation of its own.',
  },
  usage: {
    name: 'Usage',
    description:
      "Today's sends and new contacts (UTC day) against the caps of the plan, and those of the last days.",
  },
  webhooks: {
    name: 'Webhooks',
    description:
      'Subscriptions that push events to an HTTPS address. `{webhookId}` is the id of a subscription ' +
      'or its exact name.',
  },
  sandbox: {
    name: 'Sandbox',
    description:
      "For test keys only: play the phones' owners and the contacts of the simulated network. " +
      'With a live key every operation of this group answers 404.',
  },
};

const specified = Object.keys(groups) as readonly OperationGroup[];

/** The chapter of an operation. */
export function tagOf(group: AnyOperation['group']): GroupDeclaration {
  return typeof group === 'string' ? groups[group] : group;
}

/**
 * The chapters that these operations fill: the specification's in its order, then the plugins' own as they come.
 * @throws Error when two different chapters have one name
 */
export function tagsOf(operations: readonly AnyOperation[]): readonly GroupDeclaration[] {
  const used = new Set(operations.map(({ group }) => group));
  const own = [...used].filter((group) => typeof group !== 'string');
  const tags = specified.filter((group) => used.has(group)).map(tagOf);
  for (const group of own) {
    const known = [...Object.values(groups), ...tags].find(({ name }) => name === group.name);
    if (known === undefined) tags.push(group);
    else if (!isDeepStrictEqual(known, group)) {
      throw new Error(`two different groups of operations are called "${group.name}"`);
    }
  }
  return tags;
}
