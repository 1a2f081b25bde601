import { defined, parseInstant, stringAt, type Timestamp, toTimestamp } from '../../base/index.js';
import type { Peek } from '../format.js';
import { clip } from '../shared/headline.js';
import { scanDocument, scanLines } from './parse-values.js';
import { folderIn, historyIn, isHeader, isMessage, roleInTurn, titleIn, writeHeadline } from './schema.js';

/** Reads the first and the last bytes of a session. Lines cut in two are skipped. */
export function peek(head: Uint8Array, tail: Uint8Array): Peek {
  const document = scanDocument(head);
  const pieces = [...(document ?? scanLines(head)).pieces, ...(document ? [] : scanLines(tail).pieces)];
  const records = pieces.flatMap(({ record }) => (record ? [record] : []));
  const header = document?.header ?? records.find(isHeader);
  const startedAt = parseInstant(stringAt(header, 'startTime') ?? '');
  const all = header ? [header, ...records] : records;
  const messages = records.flatMap((record) => historyIn(record) ?? (isMessage(record) ? [record] : []));
  return defined({
    sessionId: stringAt(header, 'sessionId'),
    cwd: all.map(folderIn).find((folder) => folder !== undefined),
    title: clip(all.map(titleIn).findLast((text) => text !== undefined) ?? ''),
    firstPrompt: messages
      .filter((message) => roleInTurn(message) === 'prompt')
      .map(writeHeadline)
      .find((text) => text !== undefined),
    startedAt: startedAt === undefined ? undefined : (toTimestamp(startedAt) as Timestamp),
  });
}
