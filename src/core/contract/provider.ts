import { wires } from './request.js';
import { matching, name, procedure, webAddress } from './scalars.js';
import * as z from './z.js';

/** A provider that answers when a turn is run. `hasKey` says whether a key is stored; the key itself is never returned. */
export const providerAccount = z.object({
  id: name,
  title: z.string(),
  wire: z.enum(wires),
  url: z.string(),
  hasKey: z.boolean(),
  /** Where the provider is configured: in the environment of the process, in the settings, or by a server found on this machine. */
  from: z.enum(['environment', 'settings', 'machine']),
});
export type ProviderAccount = z.output<typeof providerAccount>;

const accounts = z.object({
  /** Why Stemma cannot store keys on this machine; null if the operating system seals them. */
  noKeys: z.string().nullable(),
  providers: z.array(providerAccount),
});
export type ProviderAccounts = z.output<typeof accounts>;

export const providerContract = {
  list: procedure('Lists the providers: from the environment, from the settings, and found on this machine.').returns(accounts),
  set: procedure(
    'Adds a provider to the settings or changes one. The operating system seals its key, and the key is never returned. Without `key`, the stored key is kept only if the address stays the same, because a key is never sent to another address.',
    {
      id: matching(/^[a-z0-9][a-z0-9.-]{0,60}$/, 'an id has lower-case letters, digits, dots and hyphens')
        .optional()
        .describe('The id of the provider to change. Without it, a new provider gets an id.'),
      title: z.string().trim().min(1).max(100).describe('The name that the window shows.'),
      wire: z.enum(wires).describe('The wire format that the provider speaks.'),
      url: webAddress.max(2_000).describe('The base address of the API, such as http://127.0.0.1:1234/v1.'),
      key: z.string().trim().min(1).max(10_000).optional().describe('The API key.'),
    },
  ).returns(accounts),
  remove: procedure('Removes a provider from the settings, with its key.', { id: name.describe('The id of the provider.') }).returns(accounts),
};
