import { createHash } from 'node:crypto';
import { concatBytes, decodeText, type EntryKey } from '../../base/index.js';
import type { Format } from '../format.js';
import { countTokens } from './tokens.js';

/** What texts for people and models have in common: they are written and not read, so parsing one gives it as a single entry. */
export const writtenText = (prefix: string) =>
  ({
    contentType: 'text/markdown',
    tier: 'rendered',
    parse: (delta) => {
      const text = decodeText(delta);
      const key = `${prefix}-${createHash('sha256').update(delta).digest('hex').slice(0, 12)}.0` as EntryKey;
      const raw = { start: 0, end: delta.length };
      return {
        entries: delta.length === 0 ? [] : [{ key, role: 'user', kind: 'text', text, tokens: countTokens(text), raw }],
        elisions: [],
        problems: [],
      };
    },
    concat: concatBytes,
    cut: (delta) => delta,
  }) satisfies Partial<Format>;
