import { createHash } from 'node:crypto';
import { isObject, parseJson, textOf } from '../../base/index.js';
import type { DocumentReader } from '../format.js';
import { isDeep } from '../shared/jsonl.js';
import { type Wrapped, wrapLines } from '../shared/wrapped.js';
import { formatId } from './parse-database.js';

/** The transcript that Cursor writes for other tools: roles and contents, without ids, times, results or usage. */
export const transcript: DocumentReader = {
  keeps: true,
  recognize: (head) => /^\{"role":\s*"(?:user|assistant)",\s*"message":\s*\{"content":/.test(textOf(head)),
  members(bytes, path = '') {
    const lines = textOf(bytes).split('\n');
    const first = createHash('sha256')
      .update(lines[0] ?? '')
      .digest('hex')
      .slice(0, 16);
    const id = /([^/\\]+)\.jsonl$/.exec(path)?.[1] ?? first;
    const records = lines.flatMap((line, at): Wrapped[] => {
      const record = parseJson(line);
      return isObject(record) && !isDeep(record) ? [{ id: `${at}-${createHash('sha256').update(line).digest('hex').slice(0, 12)}`, record }] : [];
    });
    return [{ id, lines: () => wrapLines(formatId, id, { sessionId: id }, records) }];
  },
};
