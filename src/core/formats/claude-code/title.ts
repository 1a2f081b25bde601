import { type JsonObject, stringAt } from '../../base/index.js';
import { clip } from '../headline.js';

/** The session's name: a person's own counts more than the agent's, a later one more than an earlier. */
export function titleIn(records: Iterable<JsonObject>): string | undefined {
  let best: string | undefined;
  let rank = 0;
  for (const record of records) {
    const found = titleOf(record);
    const title = found && found.worth >= rank ? clip(found.text) : undefined;
    if (found && title !== undefined) {
      best = title;
      rank = found.worth;
    }
  }
  return best;
}

function titleOf(record: JsonObject): { readonly text: string; readonly worth: number } | undefined {
  const named = (key: string, worth: number): { text: string; worth: number } | undefined => {
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
