import { defined, isObject, stringAt } from '../../base/index.js';
import { lastName } from '../../system/index.js';
import type { FileBytes, ImportPlan, PlanContext, Problem } from '../format.js';
import { madeBy, maxNameLength } from '../shared/plans.js';
import { recordAt, scanLines } from './parse-lines.js';
import { afterBookkeeping, commitSegments, mainTemplate, type SessionCommitFacts } from './plan-commits.js';
import { placeOnly, readLines, type SessionLines, type TranscriptLine } from './plan-lines.js';
import type { RecordNode } from './plan-nodes.js';
import { openReader } from './plan-reader.js';
import { cutBranches, isStored, placeLines, type Segment, type Segments } from './plan-segments.js';
import { growTree } from './plan-tree.js';
import { bestTitle, isChained, roleInTree, titleIn } from './schema.js';

export const formatId = 'claude-code-v1';

/** The number of bytes to read at a time from a file that is not in memory. A longer line is read completely. */
const defaultPartSize = 4 * 1024 * 1024;

/** Plans the import of a file from its bytes, its name and what the project knows. The plan does not depend on `part`. */
export function planImport(file: FileBytes, context: PlanContext, part = defaultPartSize): ImportPlan {
  const plan = isPlainContinuation(file, context) ? planFile(file, { ...context, resumeAt: 0 }, part, context.resumeAt) : undefined;
  // A problem is reported with its line number, which only a reader of the whole file knows.
  return plan && plan.skipped.length + plan.notes.length === 0 ? plan : planFile(file, context, part);
}

/** Plans the part of the file that starts at `begin`, as if it were the whole file. */
function planFile(file: FileBytes, context: PlanContext, part: number, begin = 0): ImportPlan {
  const { resumeAt, known } = context;
  const scan = withoutOpenCompaction(readLines(file, { part, begin, from: resumeAt }));
  const { lines } = scan;
  const first = lines.find(({ uuid }) => uuid !== undefined);
  const wholeIsSidechain = first !== undefined && lines.every(({ uuid, sidechain }) => uuid === undefined || sidechain);
  const fork = wholeIsSidechain ? lines.find(({ more }) => more?.forkRef)?.more?.forkRef : undefined;
  const missing = fork && !known.has(fork.last) ? fork.session : undefined;
  const isUnknown = ({ more }: TranscriptLine): boolean => more?.forkedFrom !== undefined && !known.has(more.forkedFrom.record);
  const origin = resumeAt === 0 ? lines.find(isUnknown)?.more?.forkedFrom?.session : undefined;
  const storedAs = ({ uuid, start, more }: TranscriptLine, parentStored: boolean): string | undefined => {
    if (uuid === undefined || start < resumeAt) return uuid;
    if (!parentStored) return undefined;
    if (known.has(uuid)) return uuid;
    const origin = more?.forkedFrom?.record;
    return origin !== undefined && known.has(origin) ? origin : undefined;
  };
  const isKnown = (record: string): boolean => known.has(record);
  const tree = growTree(lines, {
    storedAs,
    isImported: ({ start }) => start < resumeAt,
    isKnown,
    recordOf: (line) => recordAt(file, line),
    wholeIsSidechain,
    begunAfter: fork && known.has(fork.last) ? fork.last : undefined,
  });
  const segments = cutBranches(tree, context.granularity);
  const side = placeLines(lines, tree, segments, resumeAt);
  const sessionId = sessionIdOf(context.path, first?.more?.sessionId, wholeIsSidechain);
  const cwd = context.before?.cwd ?? lines.find(({ more }) => more?.cwd)?.more?.cwd;
  const facts: SessionCommitFacts = {
    ...madeBy(mainTemplate, { role: wholeIsSidechain ? stringAt(context.meta, 'agentType') || 'agent' : undefined, cwd, sessionId }),
    startedBy: wholeIsSidechain ? stringAt(context.meta, 'toolUseId') : undefined,
  };
  const { commits, repeated, numbers } = commitSegments(segments, tree, facts, openReader(file, resumeAt), isKnown);
  const freshFrom = lines.find(({ start }) => start >= resumeAt)?.line ?? Number.POSITIVE_INFINITY;
  const fresh = (problems: readonly Problem[]): Problem[] => problems.filter(({ line }) => line >= freshFrom).sort((a, b) => a.line - b.line);
  const title = bestTitle(lines.flatMap(({ more }) => more?.title ?? []));
  return {
    format: formatId,
    ...defined({ sessionId, title, cwd }),
    commits,
    side: [...side, ...repeated].sort((a, b) => a.start - b.start),
    skipped: fresh([...scan.skipped, ...tree.skipped, ...unnamed(scan, freshFrom)]),
    notes: fresh([...scan.notes, ...tree.notes, ...withoutBeginning(missing)]),
    tips: tipsOf(segments, numbers, isKnown),
    end: scan.end,
    ...defined({ awaits: missing ?? (origin === sessionId ? undefined : origin) }),
  };
}

/** A longer addition is planned with the whole file, which reads the file once instead of one and a half times. */
const maxTailBytes = 8 * 1024 * 1024;
/** The number of bytes before the addition in which its parent is searched. */
const lookBack = 256 * 1024;
const newline = 0x0a;

/**
 * Whether the addition to a session can be planned without the lines before it. This requires that the addition continues the last imported record,
 * that the file is a single conversation, and that nothing in the addition refers further back: no compaction, fork, title or unreadable record.
 */
function isPlainContinuation(file: FileBytes, { path, known, resumeAt, before }: PlanContext): boolean {
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

/** A forked subagent whose parent is not in the project yet. */
const withoutBeginning = (session: string | undefined): Problem[] =>
  session === undefined
    ? []
    : [{ line: 1, reason: `The subagent was forked from the session ${session}, which is not imported: its context lacks that beginning.` }];

/** The note about messages that are not read: without an id, nothing can follow a message or find it. */
function unnamed({ lines }: SessionLines, from: number): Problem[] {
  const [first, ...more] = lines.filter(({ line, isMessage, uuid }) => isMessage && uuid === undefined && line >= from);
  const those = more.length === 0 ? 'this message has' : `${more.length + 1} messages from this line on have`;
  return first ? [{ line: first.line, reason: `${those} no uuid: not read` }] : [];
}

/** A compaction at the end of the file without a summary is left for the next import, like half a line. */
function withoutOpenCompaction(scan: SessionLines): SessionLines {
  const at = scan.lines.findLastIndex(({ part }) => part !== 'quiet');
  const boundary = scan.lines[at];
  if (boundary?.part !== 'boundary') return scan;
  return {
    ...scan,
    lines: scan.lines.map((line, place) => (place < at ? line : placeOnly(line, 'half'))),
    skipped: [
      ...scan.skipped.filter(({ line }) => line < boundary.line),
      { line: boundary.line, reason: 'The compaction has no summary yet: left for the next import.' },
    ],
    notes: scan.notes.filter(({ line }) => line < boundary.line),
    end: boundary.start,
  };
}

/** Leaves by the position of their last record in the file, subagents first. The agent resumes the last one. */
function tipsOf({ list, branchedAt }: Segments, numbers: ReadonlyMap<Segment, number>, isKnown: (record: string) => boolean): ImportPlan['tips'] {
  const last = new Map(list.filter((segment) => isStored(segment) || numbers.has(segment)).map((segment) => [segment.branch, segment] as const));
  const leaves = [...last].filter(([{ nodes }]) => !branchedAt.has(nodes.at(-1) as RecordNode));
  const order = ([{ sidechain, nodes }]: (typeof leaves)[number]): number => (sidechain ? -1e15 : 0) + (nodes.at(-1)?.line.start ?? 0);
  return leaves
    .sort((a, b) => order(a) - order(b))
    .flatMap(([, segment]): ImportPlan['tips'] => {
      const plan = numbers.get(segment);
      const stored = segment.nodes.at(-1)?.stored;
      return plan !== undefined ? [{ plan }] : stored !== undefined ? [afterBookkeeping(isKnown, stored)[0]] : [];
    });
}

const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
/** The file's name contains the session id; lines can come from other sessions. A subagent's lines name the session that started it. */
function sessionIdOf(path: string, recorded: string | undefined, subagent: boolean): string | undefined {
  const named = uuidPattern.exec(lastName(path))?.[0];
  const id = subagent ? (recorded ?? named) : (named ?? recorded);
  return id === undefined || id === '' ? undefined : id.slice(0, maxNameLength);
}
