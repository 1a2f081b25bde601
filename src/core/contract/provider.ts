import { oc } from '@orpc/contract';
import { z } from 'zod';
import { wires } from './request.js';
import { name, webAddress } from './scalars.js';

/** Somebody who answers when a turn is run. Never the key itself: only whether there is one. */
export const providerAccount = z.object({
  id: name,
  title: z.string(),
  wire: z.enum(wires),
  url: z.string(),
  hasKey: z.boolean(),
  /** Who set it up: the environment of the process, a person in the settings, or nobody: it is looked for on this machine. */
  from: z.enum(['environment', 'settings', 'machine']),
});
export type ProviderAccount = z.output<typeof providerAccount>;

const accounts = z.object({
  /** Why keys cannot be kept here; null where the operating system keeps them. */
  noKeys: z.string().nullable(),
  providers: z.array(providerAccount),
});
export type ProviderAccounts = z.output<typeof accounts>;

export const providerContract = {
  list: oc.input(z.object({})).output(accounts),
  /**
   * Adds a provider or changes one from the settings. Its key goes to the operating system and never comes back; without
   * one the key that is there stays, unless the address is another: a key is sent nowhere but where it was given for.
   */
  set: oc
    .input(
      z.strictObject({
        id: z
          .string()
          .regex(/^[a-z0-9][a-z0-9.-]{0,60}$/, 'small letters, digits, dots and dashes')
          .optional(),
        title: z.string().trim().min(1).max(100),
        wire: z.enum(wires),
        url: webAddress.max(2_000),
        key: z.string().trim().min(1).max(10_000).optional(),
      }),
    )
    .output(accounts),
  remove: oc.input(z.object({ id: name })).output(accounts),
};
