import { type JsonObject, stringAt } from '../../base/index.js';
import { clip } from '../shared/headline.js';

export interface Title {
  readonly text: string;
  readonly worth: number;
}

/** The session's title. A person's title takes precedence over the agent's title, and a later title over an earlier one. */
export const titleIn = (records: readonly JsonObject[]): string | undefined => bestTitle(records.flatMap((record) => readTitle(record) ?? []));

/** The last of the titles with the highest rank. */
export function bestTitle(titles: readonly Title[]): string | undefined {
  let best: string | undefined;
  let rank = 0;
  for (const { text, worth } of titles) {
    const title = worth >= rank ? clip(text) : undefined;
    if (title === undefined) continue;
    best = title;
    rank = worth;
  }
  return best;
}

/** The title that the record sets. */
export function readTitle(record: JsonObject): Title | undefined {
  const named = (key: string, worth: number): Title | undefined => {
    const text = stringAt(record, key);
    return text === undefined ? undefined : { text, worth };
  };
  switch (record.type) {
    case 'custom-title':
      return named('customTitle', 3);
    case 'ai-title':
      return named('aiTitle', 2);
    case 'summary':
      return named('summary', 1);
    default:
      return undefined;
  }
}
