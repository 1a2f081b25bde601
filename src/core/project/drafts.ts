import { join } from 'node:path';
import { type Clock, isObject, parseJson, toTimestamp } from '../base/index.js';
import type { SavedDraft } from '../contract/index.js';
import { readInside, replaceFile, unlessRefused } from '../files/index.js';

/** Text that a person typed and has not used yet, such as an edited prompt. It is kept on this machine, outside of projects. */
export type Drafts = ReturnType<typeof openDrafts>;

const maxDrafts = 500;
const maxFileBytes = 64 * 1024 * 1024;

/** The drafts in Stemma's own folder. A file that cannot be read counts as empty: drafts never keep the app from working. */
export function openDrafts(dataDir: string, clock: Clock) {
  const file = join(dataDir, 'drafts.json');
  const list = (): SavedDraft[] => {
    const text = unlessRefused(() => readInside(dataDir, file, { limit: maxFileBytes }).toString('utf8'));
    const stored: unknown = parseJson(text ?? '');
    return Array.isArray(stored) ? stored.filter(isDraft) : [];
  };
  return {
    list,
    /** Saves a draft; null removes it. */
    save: (key: string, text: string | null): void => {
      const others = list().filter((draft) => draft.key !== key);
      const drafts = text === null ? others : [{ key, text, savedAt: toTimestamp(clock()) }, ...others];
      replaceFile(file, `${JSON.stringify(drafts.slice(0, maxDrafts))}\n`);
    },
  };
}

const isDraft = (value: unknown): value is SavedDraft =>
  isObject(value) && typeof value.key === 'string' && typeof value.text === 'string' && typeof value.savedAt === 'string';
