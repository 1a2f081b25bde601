import { defined, stringAt } from '../../base/index.js';
import type { Peek } from '../format.js';
import { planHeading } from '../shared/plan-heading.js';
import { scanLines } from './parse-lines.js';
import { firstTextOf, isChained, readContent, readTime, roleInTree, writeHeadline } from './schema.js';
import { titleIn } from './schema-title.js';

/** Reads the first and the last bytes of a session file; they may overlap. Lines cut in two are skipped. */
export function peek(head: Uint8Array, tail: Uint8Array): Peek {
  const beginning = scanLines(head).pieces.flatMap(({ record }) => (record ? [record] : []));
  const end = scanLines(tail).pieces.flatMap(({ record }) => (record ? [record] : []));
  const chained = beginning.filter(isChained);
  const prompt =
    chained.find((record) => roleInTree(record) === 'prompt') ?? chained.find((record) => roleInTree(record) === 'command' && record.isMeta !== true);
  return defined({
    sessionId: beginning.map((record) => stringAt(record, 'sessionId')).find((id) => id !== undefined),
    cwd: chained.map((record) => stringAt(record, 'cwd')).find((cwd) => cwd !== undefined),
    title: titleIn([...beginning, ...end]),
    firstPrompt: prompt && (planHeading(firstTextOf(readContent(prompt))) ?? writeHeadline(prompt)),
    startedAt: chained.map(readTime).find((at) => at !== undefined),
  });
}
