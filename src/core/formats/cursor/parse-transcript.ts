import { decodeText, isObject, parseJson } from '../../base/index.js';
import { digest } from '../digest.js';
import type { DocumentReader, Problem } from '../format.js';
import { linesOnce, saidBefore } from '../shared/copies.js';
import { isDeep } from '../shared/jsonl.js';
import { type Wrapped, wrapLines } from '../shared/wrapped.js';
import { formatId } from './parse-database.js';

/** The transcript that Cursor writes for other tools: roles and contents, without ids, times, results or usage. */
export const transcript: DocumentReader = {
  keeps: true,
  recognize(head) {
    const [line = ''] = decodeText(head).split('\n', 1);
    const record = parseJson(line);
    // A first line that is longer than what is looked at has the members in Cursor's own order.
    if (!isObject(record)) return /^\{"role":\s*"(?:user|assistant)",\s*"message":\s*\{"content":/.test(line);
    const { role, message } = record;
    return (role === 'user' || role === 'assistant') && isObject(message) && 'content' in message && !('type' in record) && !('uuid' in record);
  },
  members(bytes, path = '') {
    const text = decodeText(bytes);
    const id = /([^/\\]+)\.jsonl$/.exec(path)?.[1] ?? digest(text.split('\n', 1)[0] ?? '', 16);
    const records = linesOnce(text).read.flatMap(({ line, value }, at): Wrapped[] =>
      isObject(value) && !isDeep(value) ? [{ id: `${at}-${digest(line)}`, record: value }] : [],
    );
    return [{ id, lines: () => wrapLines(formatId, id, { sessionId: id }, records) }];
  },
  unread(bytes): readonly Problem[] {
    const { read, copies } = linesOnce(decodeText(bytes));
    const broken = read.flatMap(({ value, number }) => (isObject(value) ? [] : [{ line: number, reason: 'not JSON' }]));
    return [...broken, ...copies.map(({ number }) => ({ line: number, reason: saidBefore }))];
  },
};
