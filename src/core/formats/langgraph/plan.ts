import { defined, isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { ImportPlan, ParsedDelta, ParsedEntry, PlanContext, Problem } from '../format.js';
import { type Content, planBranches, type TreeRecord } from '../shared/branches.js';
import { clip } from '../shared/headline.js';
import type { RecordPiece } from '../shared/jsonl.js';
import { firstIn, madeBy, maxNameLength, newProblems } from '../shared/plans.js';
import { inDelta } from '../shared/records.js';
import { readEntries, stopEntry } from './parse.js';
import { titleIn } from './parse-database.js';
import { type CheckpointLine, isCheckpoint, readMessage, readTime, scanLines } from './schema.js';

export const formatId = 'langgraph-v1';

/** Plans the import of a thread: one commit for each checkpoint that added messages, and branches where checkpoints fork. */
export function planImport(file: Uint8Array, context: PlanContext): ImportPlan {
  const scan = context.scan ?? scanLines(file, { mayGrow: true });
  const { pieces } = scan;
  const about = pieces.find(({ record }) => record?.thread !== undefined)?.record ?? {};
  const namespace = stringAt(about, 'namespace');
  const sessionId = readSession(about);
  const tree = growTree(pieces, context);
  const title = titleIn(tree.records.flatMap(({ piece }) => (piece.record as CheckpointLine).messages));
  // A graph inside a graph is named after its node; the run that started it follows after a colon.
  const made = madeBy('langgraph', { role: namespace?.split('|').at(-1)?.split(':')[0], sessionId });
  const planned = planBranches({ ...tree, pieces }, context, { ...made, read: readPieces, summary: writeSummary });
  const fresh = newProblems(pieces, context.resumeAt);
  return {
    format: formatId,
    ...defined({ sessionId, title }),
    ...planned,
    skipped: fresh([...scan.skipped, ...tree.skipped]),
    notes: fresh([...scan.notes, ...tree.notes]),
    end: scan.end,
  };
}

function growTree(pieces: readonly RecordPiece[], { resumeAt, known }: PlanContext) {
  const byId = new Map<string, TreeRecord>();
  const aside = new Set<RecordPiece>();
  const skipped: Problem[] = [];
  const notes: Problem[] = [];
  for (const piece of pieces) {
    const { record, line } = piece;
    if (!record) continue;
    if (record.row !== undefined) skipped.push({ line, reason: `a checkpoint that cannot be read (${typeIn(record.row)}): kept unchanged` });
    if (!isCheckpoint(record) || record.messages.length === 0) continue;
    const { checkpoint: name } = record;
    if (byId.has(name)) {
      aside.add(piece);
      skipped.push({ line, reason: 'The same checkpoint comes earlier.' });
      continue;
    }
    const after = stringAt(record, 'after');
    const parent = after === undefined ? null : (byId.get(after) ?? null);
    if (after !== undefined && !parent) notes.push({ line, reason: `the parent ${after} does not exist: read as a root` });
    byId.set(name, {
      name,
      piece,
      parent,
      part: record.replaces === true && parent ? 'compaction' : 'step',
      at: readTime(record),
      stored: piece.range.start < resumeAt || ((parent === null || parent.stored) && known.has(name)),
      ends: endsTurn(record) ? 'turn_boundary' : 'tool_call',
    });
  }
  return { records: [...byId.values()], aside, skipped, notes };
}

/** Whether a checkpoint ends with an answer that calls no tool. */
function endsTurn({ messages }: CheckpointLine): boolean {
  const last = messages.length > 0 ? readMessage(messages.at(-1) as (typeof messages)[number]) : undefined;
  if (last?.kind !== 'ai') return false;
  const { tool_calls: calls } = last.fields;
  return !Array.isArray(calls) || calls.length === 0;
}

const typeIn = (row: unknown): string => (isObject(row) ? (stringAt(row, 'type') ?? 'no type') : 'no row');

/** The thread, and the position of a graph inside it. */
function readSession(about: JsonObject): string | undefined {
  const thread = stringAt(about, 'thread');
  const namespace = stringAt(about, 'namespace');
  return thread === undefined ? undefined : (namespace === undefined ? thread : `${thread}/${namespace}`).slice(0, maxNameLength);
}

function readPieces(pieces: readonly RecordPiece[]): Content {
  const entries: ParsedEntry[] = [];
  let stops = 0;
  for (const [{ record }, raw] of inDelta(pieces)) {
    if (!record) continue;
    if (isCheckpoint(record)) for (const entry of readEntries(record, raw)) entries.push(entry);
    else if (record.write !== undefined) entries.push(stopEntry(record, stops++, raw));
  }
  return { entries, elisions: [] };
}

/** Reads the lines of a delta. Never throws for their content. */
export function parse(delta: Uint8Array): ParsedDelta {
  const { pieces, skipped } = scanLines(delta);
  return { ...readPieces(pieces), problems: skipped };
}

function writeSummary(records: readonly TreeRecord[]): string | undefined {
  const messages = records.flatMap(({ piece }) => (piece.record as CheckpointLine).messages);
  const reads = messages.flatMap((message) => readMessage(message) ?? []);
  const said = ({ kind, fields }: (typeof reads)[number]): string | undefined =>
    kind === 'ai' && typeof fields.content === 'string' ? clip(fields.content) : undefined;
  const tools = reads.flatMap(({ kind, fields }) => {
    if (kind === 'tool') return [stringAt(fields, 'name') ?? 'tool'];
    return Array.isArray(fields.tool_calls) ? fields.tool_calls.flatMap((call) => stringAt(call, 'name') ?? []) : [];
  });
  return titleIn(messages) ?? firstIn(reads, said) ?? clip([...new Set(tools)].join(', '));
}
