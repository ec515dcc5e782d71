import type { Unit } from '../../core/contracts/storage.ts';

declare module '../../core/contracts/messages.ts' {
  interface Messages {
    /**
     * Forgets a contact, inside the transaction that makes it private and has its tenant locked: its undispatched
     * messages fail with `contact_private`, emptied and without an event; all others are deleted, and so are
     * the events of all of them with their deliveries. The media of what is deleted is deleted after the commit.
     */
    forgetContact(unit: Unit, tenantId: string, contactId: string): Promise<void>;
  }
}
