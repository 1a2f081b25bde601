import { defined, stringAt, type Timestamp } from '../../base/index.js';
import type { Peek } from '../format.js';
import { readTime } from '../shared/jsonl.js';
import { titleIn } from './plan.js';
import { isHeader, roleInTurn, scanLines, writeHeadline } from './schema.js';

/** Reads the first and the last bytes of a session. Lines cut in two are skipped. */
export function peek(head: Uint8Array, tail: Uint8Array): Peek {
  const beginning = scanLines(head).pieces;
  const records = beginning.flatMap(({ record }) => (record ? [record] : []));
  const header = records.find(isHeader);
  return defined({
    sessionId: stringAt(header, 'id'),
    cwd: stringAt(header, 'cwd'),
    title: titleIn([...beginning, ...scanLines(tail).pieces]),
    firstPrompt: records
      .filter((record) => roleInTurn(record) === 'prompt')
      .map(writeHeadline)
      .find((text) => text !== undefined),
    startedAt: header && (readTime(header) as Timestamp | undefined),
  });
}
