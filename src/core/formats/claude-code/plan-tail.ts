import { isObject, stringAt } from '../../base/index.js';
import type { FileBytes, PlanContext } from '../format.js';
import { scanLines } from './parse-lines.js';
import { isChained, roleInTree, titleIn } from './schema.js';

/** A longer addition is planned with the whole file, which reads the file once instead of one and a half times. */
const maxTailBytes = 8 * 1024 * 1024;
/** The number of bytes before the addition in which its parent is searched. */
const lookBack = 256 * 1024;
const newline = 0x0a;

/**
 * Whether the addition to a session can be planned without the lines before it. This requires that the addition continues the last imported record,
 * that the file is a single conversation, and that nothing in the addition refers further back: no compaction, fork, title or unreadable record.
 */
export function isPlainContinuation(file: FileBytes, { path, known, resumeAt, before }: PlanContext): boolean {
  if (before?.tips !== 1 || resumeAt === 0 || file.length - resumeAt > maxTailBytes) return false;
  const end = Uint8Array.from(file.subarray(Math.max(0, resumeAt - lookBack), resumeAt));
  if (end.at(-1) !== newline) return false;
  const last = scanLines(end).pieces.findLast(({ record, sort }) => sort === 'record' && record && isChained(record))?.record?.uuid;
  if (typeof last !== 'string') return false;
  const isSubagent = /[/\\]subagents[/\\][^/\\]+$/.test(path);
  const seen = new Set<unknown>();
  let hasMessage = false;
  for (const { record, sort } of scanLines(file, { mayGrow: true, begin: resumeAt }).pieces) {
    if (sort === 'torn') return false;
    if (!record || sort !== 'record') continue;
    if (titleIn([record]) !== undefined) return false;
    if (!isChained(record)) continue;
    const { uuid, parentUuid } = record;
    const part = roleInTree(record);
    const continues = seen.size === 0 ? parentUuid === last : seen.has(parentUuid);
    const isNew = typeof uuid === 'string' && !seen.has(uuid) && !known.has(uuid);
    const reachesBack =
      part === 'boundary' || part === 'summary' || isObject(record.forkedFrom) || stringAt(record, 'logicalParentUuid') !== undefined;
    if (!continues || !isNew || reachesBack || (record.isSidechain === true) !== isSubagent) return false;
    seen.add(uuid);
    hasMessage ||= part !== 'quiet';
  }
  return hasMessage;
}
