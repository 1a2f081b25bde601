import { z } from 'zod';
import { wires } from './request.js';
import { name, procedure, webAddress } from './scalars.js';

/** A provider that answers when a turn is run. It says whether there is a key, and never contains the key. */
export const providerAccount = z.object({
  id: name,
  title: z.string(),
  wire: z.enum(wires),
  url: z.string(),
  hasKey: z.boolean(),
  /** Where it comes from: the environment of the process, the settings, or a server found on this machine. */
  from: z.enum(['environment', 'settings', 'machine']),
});
export type ProviderAccount = z.output<typeof providerAccount>;

const accounts = z.object({
  /** Why keys cannot be stored here; null if the operating system seals them. */
  noKeys: z.string().nullable(),
  providers: z.array(providerAccount),
});
export type ProviderAccounts = z.output<typeof accounts>;

export const providerContract = {
  list: procedure('Lists the providers: from the environment, from the settings, and found on this machine.')
    .input(z.strictObject({}))
    .output(accounts),
  set: procedure(
    'Adds a provider to the settings or changes one. The operating system seals its key, and the key is never returned. Without a key, the present key stays if the address stays: a key is only sent to the address that it was given for.',
  )
    .input(
      z.strictObject({
        id: z
          .string()
          .regex(/^[a-z0-9][a-z0-9.-]{0,60}$/, 'small letters, digits, dots and dashes')
          .optional()
          .describe('The id of the provider to change. Without it, a new provider gets an id.'),
        title: z.string().trim().min(1).max(100).describe('The name that the window shows.'),
        wire: z.enum(wires).describe('The wire format that the provider speaks.'),
        url: webAddress.max(2_000).describe('The base address of the API, such as http://127.0.0.1:1234/v1.'),
        key: z.string().trim().min(1).max(10_000).optional().describe('The API key.'),
      }),
    )
    .output(accounts),
  remove: procedure('Removes a provider from the settings, with its key.')
    .input(z.strictObject({ id: name.describe('The id of the provider.') }))
    .output(accounts),
};
