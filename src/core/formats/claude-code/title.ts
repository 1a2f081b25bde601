import { type JsonObject, stringAt } from '../../base/index.js';
import { clip } from '../headline.js';

export interface Title {
  readonly text: string;
  readonly worth: number;
}

/** The session's name: a person's own counts more than the agent's, a later one more than an earlier. */
export const titleIn = (records: readonly JsonObject[]): string | undefined => bestTitle(records.flatMap((record) => titleOf(record) ?? []));

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

export function titleOf(record: JsonObject): Title | undefined {
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
