import { defined, isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { Elision, ImportPlan, ParsedDelta, ParsedEntry, PlanContext, Problem } from '../format.js';
import { planBranches, type TreeRecord } from '../shared/branches.js';
import { clip } from '../shared/headline.js';
import { firstNewLine, type RecordPiece } from '../shared/jsonl.js';
import { inDelta } from '../shared/records.js';
import { readEntries, stopEntry } from './parse.js';
import { titleIn } from './parse-database.js';
import { type CheckpointLine, isCheckpoint, readMessage, readTime, scanLines } from './schema.js';

export const formatId = 'langgraph-v1';
const template = 'langgraph';
const maxNameLength = 400;

/** Plans the import of a thread: one commit for each checkpoint that added messages, and branches where checkpoints fork. */
export function planImport(file: Uint8Array, context: PlanContext): ImportPlan {
  const scan = context.scan ?? scanLines(file, { mayGrow: true });
  const { pieces } = scan;
  const about = pieces.find(({ record }) => record?.thread !== undefined)?.record ?? {};
  const namespace = stringAt(about, 'namespace');
  const sessionId = readSession(about);
  const skipped: Problem[] = [...scan.skipped];
  const notes: Problem[] = [...scan.notes];
  const aside = new Set<RecordPiece>();
  const records = treeOf();
  const lines = records.map(({ piece }) => piece.record as CheckpointLine);
  const title = titleIn(eachMessage(lines));
  const planned = planBranches({ pieces, records, aside }, context, {
    // A graph inside a graph is named after its node; the run that started it follows after a colon.
    template: (namespace === undefined ? template : `${template}/${namespace.split('|').at(-1)?.split(':')[0]}`).slice(0, maxNameLength),
    ...(sessionId === undefined ? {} : { sessionId }),
    read: readPieces,
    summary: writeSummary,
  });
  const freshFrom = firstNewLine(pieces, context.resumeAt);
  return {
    format: formatId,
    ...defined({ sessionId, title }),
    ...planned,
    skipped: skipped.filter(({ line }) => line >= freshFrom),
    notes: notes.filter(({ line }) => line >= freshFrom),
    end: scan.end,
  };

  function treeOf(): readonly TreeRecord[] {
    const all: TreeRecord[] = [];
    const byId = new Map<string, TreeRecord>();
    for (const piece of pieces) {
      const { record: line } = piece;
      if (piece.sort !== 'record' || !line) continue;
      if (line.row !== undefined)
        skipped.push({ line: piece.line, reason: `a checkpoint that cannot be read (${typeIn(line.row)}): kept unchanged` });
      if (!isCheckpoint(line) || line.messages.length === 0) continue;
      if (byId.has(line.checkpoint)) {
        aside.add(piece);
        skipped.push({ line: piece.line, reason: 'The same checkpoint comes earlier.' });
        continue;
      }
      const after = typeof line.after === 'string' ? line.after : undefined;
      const parent = after === undefined ? null : (byId.get(after) ?? null);
      if (after !== undefined && !parent) notes.push({ line: piece.line, reason: `the parent ${after} does not exist: read as a root` });
      const node = nodeOf(piece, line, parent, context);
      all.push(node);
      byId.set(line.checkpoint, node);
    }
    return all;
  }
}

function nodeOf(piece: RecordPiece, line: CheckpointLine, parent: TreeRecord | null, { resumeAt, known }: PlanContext): TreeRecord {
  const at = readTime(line);
  return {
    name: line.checkpoint,
    piece,
    part: line.replaces === true && parent ? 'compaction' : 'step',
    parent,
    stored: piece.range.start < resumeAt || ((parent === null || parent.stored) && known.has(line.checkpoint)),
    ends: endsTurn(line) ? 'turn_boundary' : 'tool_call',
    ...(at === undefined ? {} : { at }),
  };
}

/** Whether a checkpoint ends with an answer that calls no tool. */
function endsTurn({ messages }: CheckpointLine): boolean {
  const last = messages.length > 0 ? readMessage(messages.at(-1) as (typeof messages)[number]) : undefined;
  if (last?.kind !== 'ai') return false;
  const { tool_calls: calls } = last.fields;
  return !Array.isArray(calls) || calls.length === 0;
}

function* eachMessage(lines: readonly CheckpointLine[]) {
  for (const { messages } of lines) yield* messages;
}

const typeIn = (row: unknown): string => (isObject(row) ? (stringAt(row, 'type') ?? 'no type') : 'no row');

/** The thread, and the position of a graph inside it. */
function readSession(about: JsonObject): string | undefined {
  const thread = stringAt(about, 'thread');
  const namespace = stringAt(about, 'namespace');
  return thread === undefined ? undefined : (namespace === undefined ? thread : `${thread}/${namespace}`).slice(0, maxNameLength);
}

function readPieces(pieces: readonly RecordPiece[]): { entries: readonly ParsedEntry[]; elisions: readonly Elision[] } {
  const entries: ParsedEntry[] = [];
  let stops = 0;
  for (const [{ record, sort }, raw] of inDelta(pieces)) {
    if (!record || sort !== 'record') continue;
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
  const asked = titleIn(messages);
  if (asked !== undefined) return asked;
  const reads = messages.flatMap((message) => readMessage(message) ?? []);
  for (const { kind, fields } of reads) {
    const text = kind === 'ai' && typeof fields.content === 'string' ? clip(fields.content) : undefined;
    if (text !== undefined) return text;
  }
  const tools = new Set(
    reads.flatMap(({ kind, fields }) =>
      kind === 'tool'
        ? [stringAt(fields, 'name') ?? 'tool']
        : Array.isArray(fields.tool_calls)
          ? fields.tool_calls.flatMap((call) => stringAt(call, 'name') ?? [])
          : [],
    ),
  );
  return tools.size > 0 ? clip([...tools].join(', ')) : undefined;
}
