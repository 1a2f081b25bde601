import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../core/base/index.js';
import type { UpdateSettings } from '../../core/contract/index.js';

/** The file with the settings of updates. The engine writes it, the desktop shell reads it. */
export const updatesFile = (dataDir: string): string => join(dataDir, 'updates.json');

/** Whether an address may be a feed of updates. */
const isFeed = (value: unknown): value is string => typeof value === 'string' && value.startsWith('https://') && URL.canParse(value);

/** The settings of updates. Updates are off until a person turns them on, and wherever the file cannot be read. */
export function readUpdates(dataDir: string): UpdateSettings {
  const stored: unknown = attempt(() => JSON.parse(readFileSync(updatesFile(dataDir), 'utf8')));
  const { on, feed } = (stored ?? {}) as { readonly on?: unknown; readonly feed?: unknown };
  return { on: on === true, feed: isFeed(feed) ? feed : null };
}
