import { defined, inWords, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { ImportPlan, ParsedDelta, ParsedEntry, PlanContext, Problem } from '../format.js';
import { type Content, maxRepeats, planBranches, type RecordRole, recordsBefore, type TreeRecord } from '../shared/branches.js';
import { clip } from '../shared/headline.js';
import type { RecordPiece, Scan } from '../shared/jsonl.js';
import { startedWith } from '../shared/keys.js';
import { firstIn, madeBy, maxNameLength, newProblems } from '../shared/plans.js';
import { inDelta } from '../shared/records.js';
import { readEntries } from './parse.js';
import {
  compactionOf,
  idOf,
  isMessage,
  isOpen,
  isSummary,
  type MessageLine,
  nameMessage,
  readParts,
  readRole,
  readTime,
  readType,
  resultNames,
  scanLines,
  sessionIn,
  startIn,
} from './schema.js';

export const formatId = 'opencode-v1';

interface Given {
  readonly context: PlanContext;
  readonly parents: ReadonlyMap<string, string | null>;
  readonly startedBy: TreeRecord['startedBy'];
}

const newGrowth = (given: Given, repeats: number) => ({
  ...given,
  records: [] as TreeRecord[],
  byId: new Map<string, TreeRecord>(),
  names: new Map<RecordPiece, string>(),
  used: new Set<string>(),
  aside: new Set<RecordPiece>(),
  skipped: [] as Problem[],
  notes: [] as Problem[],
  /** The number of kept messages that compactions can still repeat. */
  repeats,
});
type Growth = ReturnType<typeof newGrowth>;

/** The pattern of a default title: the start time of a session without a title. */
const placeholder = /^(?:New|Child) session - \d{4}-\d\d-\d\dT/;

/** Plans the import of a session's lines from its bytes and what the project knows. */
export function planImport(file: Uint8Array, context: PlanContext): ImportPlan {
  const scan = withoutOpenEnd(context.scan ?? scanLines(file));
  const { pieces } = scan;
  const about = sessionIn(pieces.findLast(({ record }) => record?.session !== undefined)?.record);
  const [cwd, title, sessionId] = ['directory', 'title', 'id'].map((key) => stringAt(about.session, key)?.slice(0, maxNameLength));
  const parent = stringAt(about.session, 'parent_id');
  const agent = parent === undefined ? undefined : (stringAt(about.session, 'agent') ?? 'agent');
  // Without a call that started it, only its parent is known.
  const starter = about.startedBy === null ? parent : sessionId;
  const startedBy = agent !== undefined && starter !== undefined ? { sessionId: starter } : undefined;
  const tree = newGrowth({ context, parents: about.parents, startedBy }, pieces.length * maxRepeats);
  for (const piece of pieces) {
    const { record: line } = piece;
    if (line && isMessage(line)) placeMessage(tree, piece, line);
    else if (line?.row !== undefined) tree.skipped.push({ line: piece.line, reason: rowReason(line.row) });
  }
  const planned = planBranches({ ...tree, pieces }, context, {
    ...madeBy('opencode', { role: agent, cwd, sessionId }),
    read: (some) => readPieces(some, tree.names),
    summary: writeSummary,
  });
  const fresh = newProblems(pieces, context.resumeAt);
  return {
    format: formatId,
    ...defined({ sessionId, title: placeholder.test(title ?? '') ? undefined : title, cwd }),
    ...planned,
    skipped: fresh([...scan.skipped, ...tree.skipped]),
    notes: [...fresh([...scan.notes, ...tree.notes]), ...about.notes.map((reason) => ({ line: 0, reason }))],
    end: scan.end,
  };
}

function placeMessage(growth: Growth, piece: RecordPiece, line: MessageLine): void {
  const { context, parents, startedBy, records, byId, names, used, aside, skipped } = growth;
  const id = idOf(line);
  const after = parents.get(id);
  const last = records.at(-1) ?? null;
  const parent = after === undefined ? last : after === null ? null : (byId.get(after) ?? last);
  const name = nameMessage(line);
  if (used.has(name)) {
    aside.add(piece);
    skipped.push({ line: piece.line, reason: 'The same message with the same time comes earlier.' });
    return;
  }
  used.add(name);
  names.set(piece, name);
  const results = resultNames(line, name);
  const others = [...startsIn(line), ...results];
  const kept = isSummary(line) && parent ? keptBefore(growth, parent) : [];
  const node: TreeRecord = {
    name,
    piece,
    part: roleInTurn(line),
    parent,
    stored: piece.range.start < context.resumeAt || ((parent === null || parent.stored) && context.known.has(name)),
    at: readTime(line),
    ...(others.length > 0 && { others }),
    ...(results.length > 0 && { end: results.at(-1) as string }),
    ...(kept.length > 0 && { kept }),
    ...(startedBy && !parent && { startedBy }),
  };
  records.push(node);
  byId.set(id, node);
}

/** The messages that a compaction keeps: from the message that its request names up to the request. */
function keptBefore(growth: Growth, request: TreeRecord): readonly TreeRecord[] {
  const first = stringAt(compactionOf(request.piece.record as MessageLine), 'tail_start_id');
  if (first === undefined) return [];
  const isFirst = ({ piece }: TreeRecord): boolean => idOf(piece.record as MessageLine) === first;
  const before = recordsBefore(growth, request, isFirst);
  if (!before || (before[0] && isFirst(before[0]))) return before ?? [];
  growth.notes.push({ line: request.piece.line, reason: `the message ${first} that the compaction keeps does not come before it` });
  return [];
}

const startsIn = (line: MessageLine): readonly string[] => readParts(line).flatMap((part) => startIn(part).map((names) => startedWith(...names)));

function rowReason(row: Json): string {
  const [table, id] = [stringAt(row, 'table') ?? 'message', stringAt(row, 'id')];
  return `a row of the table ${inWords(table)}${id === undefined ? '' : ` (${inWords(id)})`} that is not a ${inWords(table)}: kept unchanged`;
}

/** The session's own line is rewritten each time, and an unfinished answer is left for the next import. */
function withoutOpenEnd(scan: Scan): Scan {
  const { pieces, skipped } = scan;
  const last = pieces.findLastIndex(({ record }) => record !== undefined && isMessage(record));
  const message = pieces[last];
  if (!message?.record || !isOpen(message.record as MessageLine)) return { ...scan, end: pieces[last + 1]?.range.start ?? scan.end };
  const { line, range } = message;
  return {
    ...scan,
    pieces: pieces.with(last, { line, range, sort: 'half' }),
    skipped: [...skipped, { line, reason: 'the answer is not finished: left for the next import' }],
    end: range.start,
  };
}

function roleInTurn(line: MessageLine): RecordRole {
  if (isSummary(line)) return 'compaction';
  const parts = readParts(line);
  if (readRole(line) === 'assistant') return parts.some((part) => readType(part) === 'tool') ? 'round' : 'answer';
  if (readRole(line) === 'tool') return 'result';
  if (compactionOf(line)) return 'boundary';
  const isTyped = parts.some(
    (part) => (readType(part) === 'text' && part.synthetic !== true) || readType(part) === 'file' || readType(part) === 'subtask',
  );
  return readRole(line) === 'user' && isTyped ? 'prompt' : 'quiet';
}

/** The entries of lines that follow each other in a delta. The name of a line is a digest of it, which is known for some. */
function readPieces(pieces: readonly RecordPiece[], named?: ReadonlyMap<RecordPiece, string>): Content {
  const entries: ParsedEntry[] = [];
  for (const [piece, raw] of inDelta(pieces)) {
    const { record } = piece;
    if (!record || !isMessage(record)) continue;
    for (const entry of readEntries(record, named?.get(piece) ?? nameMessage(record), raw)) entries.push(entry);
  }
  return { entries, elisions: [] };
}

/** Reads the lines of a delta. Never throws for their content. */
export function parse(delta: Uint8Array): ParsedDelta {
  const { pieces, skipped } = scanLines(delta);
  return { ...readPieces(pieces), problems: skipped };
}

function writeSummary(records: readonly TreeRecord[]): string | undefined {
  const lines = records.map(({ piece }) => piece.record as MessageLine);
  if (records.at(-1)?.part === 'compaction') {
    const auto = lines.map((line) => compactionOf(line)?.auto).find((one) => one !== undefined);
    return auto === undefined ? 'Compaction' : `Compaction (${auto ? 'auto' : 'manual'})`;
  }
  const asked = records.find(({ part }) => part === 'prompt')?.piece.record as MessageLine | undefined;
  const isTyped = (part: JsonObject): boolean => readType(part) === 'text' && part.synthetic !== true;
  const said = [...(asked ? [asked] : []), ...lines.filter((one) => readRole(one) === 'assistant')].flatMap(readParts).filter(isTyped);
  const tools = lines.flatMap(readParts).flatMap((part) => (readType(part) === 'tool' ? (stringAt(part, 'tool') ?? []) : []));
  return firstIn(said, (part) => clip(stringAt(part, 'text') ?? '')) ?? clip([...new Set(tools)].join(', '));
}
