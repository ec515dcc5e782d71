import { Type } from 'typebox';
import type { LinkMethod } from '../../../core/contracts/driver.ts';
import type { ErrorDetail } from '../../../core/errors.ts';
import { wrongFields } from '../../../core/field-refusals.ts';
import type { ConnectOptions } from '../contract.ts';

/** A switch of a connect operation, off unless given. */
export const Flag = (description: string) =>
  Type.Optional(Type.Boolean({ description, default: false }));

/** An import field has no default: an absent field keeps the earlier choice. */
const Kept = (description: string) => Type.Optional(Type.Boolean({ description }));

/** The fields of a connect operation that say what is imported. */
export const importFields = {
  import_contacts: Kept("import the phone's contacts on the first connection"),
  pause_ai_for_imported_contacts: Kept(
    'keep automated replies paused for the imported contacts; needs `import_contacts`',
  ),
  import_existing_chats: Kept('import the chat history as well; needs `import_contacts`'),
  mark_imported_contacts_as_private: Kept(
    'create the imported contacts as private; needs `import_contacts`, excludes `import_existing_chats`',
  ),
};

/** What a body with these fields asks for. */
export type ImportBody = { readonly [Field in keyof typeof importFields]?: boolean };

/** Whether a body leaves what is imported to the connect before, if that has not linked its account. */
export function leavesImports(body: ImportBody): boolean {
  return Object.keys(importFields).every((field) => body[field as keyof ImportBody] === undefined);
}

/** Options of a connect that imports nothing. */
export function plainOptions(method: LinkMethod): ConnectOptions {
  return { method, ...importOptions({}) };
}

/** @throws GatewayError `invalid_request` naming every import option that contradicts another */
export function importOptions(body: ImportBody): Omit<ConnectOptions, 'method'> {
  const options = {
    importContacts: body.import_contacts ?? false,
    importHistory: body.import_existing_chats ?? false,
    pauseAutomation: body.pause_ai_for_imported_contacts ?? false,
    markPrivate: body.mark_imported_contacts_as_private ?? false,
  };
  const details: ErrorDetail[] = [];
  const needsContacts = (given: boolean, field: keyof ImportBody): void => {
    if (!given || options.importContacts) return;
    const path = `body/${field}`;
    details.push({ path, message: `${path} requires import_contacts to be true` });
  };
  needsContacts(options.importHistory, 'import_existing_chats');
  needsContacts(options.pauseAutomation, 'pause_ai_for_imported_contacts');
  needsContacts(options.markPrivate, 'mark_imported_contacts_as_private');
  if (options.importHistory && options.markPrivate) {
    const path = 'body/mark_imported_contacts_as_private';
    details.push({ path, message: `${path} cannot be combined with import_existing_chats` });
  }
  if (details.length > 0) throw wrongFields(details);
  return options;
}
