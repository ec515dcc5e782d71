import type { AnyOperation } from '../../core/operation.ts';
import { type ChangeContactParts, changeContact } from './change-contact.ts';
import { type CreateContactParts, createContact } from './create-contact.ts';
import { type EraseContactParts, eraseContact } from './erase-contact.ts';
import { type GetContactParts, getContact } from './get-contact.ts';
import { type ListContactsParts, listContacts } from './list-contacts.ts';

/** Dependencies of the operations. */
export interface ContactOperationsParts
  extends ListContactsParts,
    CreateContactParts,
    GetContactParts,
    ChangeContactParts,
    EraseContactParts {}

/** The operations on contacts, but for their export; REST only. */
export function contactOperations(parts: ContactOperationsParts): readonly AnyOperation[] {
  return [
    listContacts(parts),
    createContact(parts),
    getContact(parts),
    changeContact(parts),
    eraseContact(parts),
  ];
}
