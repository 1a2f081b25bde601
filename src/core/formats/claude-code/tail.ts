import { isObject, stringAt } from '../../base/index.js';
import type { FileBytes, PlanContext } from '../format.js';
import { scanLines } from './lines.js';
import { isChained, partOf } from './record.js';
import { titleIn } from './title.js';

/** More than this that is new is planned with the whole file: then the file is read once, and not the half of it twice. */
const longestTail = 8 * 1024 * 1024;
/** In so many bytes before what is new, the record is looked for that it goes on from. */
const lookBack = 256 * 1024;
const newline = 0x0a;

/**
 * Whether what a session has grown by can be planned without what stands before: it goes on from the last record that was taken in, in
 * a file that is one conversation, and does nothing that reaches back: no compaction, fork, title, or record that cannot be read.
 */
export function goesOnPlainly(file: FileBytes, { path, known, resumeAt, before }: PlanContext): boolean {
  if (before?.tips !== 1 || resumeAt === 0 || file.length - resumeAt > longestTail) return false;
  const end = Uint8Array.from(file.subarray(Math.max(0, resumeAt - lookBack), resumeAt));
  if (end.at(-1) !== newline) return false;
  const last = scanLines(end).pieces.findLast(({ record, sort }) => sort === 'record' && record && isChained(record))?.record?.uuid;
  if (typeof last !== 'string') return false;
  const isSubagent = /[/\\]subagents[/\\][^/\\]+$/.test(path);
  const seen = new Set<unknown>();
  let says = false;
  for (const { record, sort } of scanLines(file, { mayGrow: true, begin: resumeAt }).pieces) {
    if (sort === 'torn') return false;
    if (!record || sort !== 'record') continue;
    if (titleIn([record]) !== undefined) return false;
    if (!isChained(record)) continue;
    const { uuid, parentUuid } = record;
    const part = partOf(record);
    const goesOn = seen.size === 0 ? parentUuid === last : seen.has(parentUuid);
    const isNew = typeof uuid === 'string' && !seen.has(uuid) && !known.has(uuid);
    const reachesBack =
      part === 'boundary' || part === 'summary' || isObject(record.forkedFrom) || stringAt(record, 'logicalParentUuid') !== undefined;
    if (!goesOn || !isNew || reachesBack || (record.isSidechain === true) !== isSubagent) return false;
    seen.add(uuid);
    says ||= part !== 'quiet';
  }
  return says;
}
