import type { OperationGroup } from '../../../core/operation.ts';

/** The groups in the order of the documentation, each with the name and description of its tag. */
export const groups: Readonly<Record<OperationGroup, { name: string; description: string }>> = {
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
    description: "Today's sends and new contacts (UTC day) against the caps of the plan.",
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

/** The names of the groups in the order of the documentation. */
export const groupOrder = Object.keys(groups) as readonly OperationGroup[];
