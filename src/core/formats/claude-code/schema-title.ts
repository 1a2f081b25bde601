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

/** The field of a title by the type of its record, and its rank. */
const fields: ReadonlyMap<unknown, readonly [key: string, worth: number]> = new Map([
  ['custom-title', ['customTitle', 3]],
  ['ai-title', ['aiTitle', 2]],
  ['summary', ['summary', 1]],
]);

/** The title that the record sets. */
export function readTitle(record: JsonObject): Title | undefined {
  const [key, worth = 0] = fields.get(record.type) ?? [];
  const text = key && stringAt(record, key);
  return text === undefined ? undefined : { text, worth };
}
