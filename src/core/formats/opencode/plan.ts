import { inWords, isObject, type Json, type JsonObject, stringAt } from '../../base/index.js';
import type { Elision, ImportPlan, ParsedDelta, ParsedEntry, PlanContext, Problem } from '../format.js';
import { clip } from '../headline.js';
import { firstNewLine, type Piece, type Scan } from '../jsonl.js';
import { startedWith } from '../started.js';
import { type Part, planStrands, type TreeRecord } from '../strands.js';
import { entriesOf } from './entries.js';
import {
  compactionOf,
  idOf,
  isMessage,
  isOpen,
  isSummary,
  type MessageLine,
  nameOf,
  partsOf,
  resultNames,
  roleOf,
  scanLines,
  sessionIn,
  timeOf,
  typeOf,
} from './lines.js';

export const formatId = 'opencode-v1';
const template = 'opencode';
const longestName = 400;
/** More messages than this for each of the session's are not repeated beside summaries: compactions that all keep everything cost their square. */
const mostRepeats = 16;

/** Plans the import of a session's lines: a pure function of its bytes and what the project knows. */
export function planImport(file: Uint8Array, context: PlanContext): ImportPlan {
  const scan = withoutOpenEnd(context.scan ?? scanLines(file));
  const pieces = scan.pieces;
  const about = sessionIn(scan.pieces.findLast(({ record }) => record?.session !== undefined)?.record);
  const session = about?.session ?? {};
  const [cwd, title, sessionId] = ['directory', 'title', 'id'].map((key) => stringAt(session, key)?.slice(0, longestName));
  const agent = stringAt(session, 'parent_id') === undefined ? undefined : (stringAt(session, 'agent') ?? 'agent');
  const startedBy = agent !== undefined && sessionId !== undefined ? { sessionId } : undefined;
  const notes: Problem[] = [];
  const skipped: Problem[] = [...scan.skipped];
  const aside = new Set<Piece>();
  const named = new Map<Piece, string>();
  let repeats = pieces.length * mostRepeats;
  const records = treeOf();
  const planned = planStrands({ pieces, records, aside }, context, {
    template: (agent === undefined ? template : `${template}/${agent}`).slice(0, longestName),
    ...(cwd === undefined ? {} : { principal: `${template}@${cwd}`.slice(0, longestName) }),
    ...(sessionId === undefined ? {} : { sessionId }),
    read: (some) => readPieces(some, named),
    summary: summaryOf,
  });
  const freshFrom = firstNewLine(pieces, context.resumeAt);
  return {
    format: formatId,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(title === undefined ? {} : { title }),
    ...(cwd === undefined ? {} : { cwd }),
    ...planned,
    skipped: skipped.filter(({ line }) => line >= freshFrom),
    notes: [...scan.notes, ...notes].filter(({ line }) => line >= freshFrom),
    end: scan.end,
  };

  function treeOf(): readonly TreeRecord[] {
    const all: TreeRecord[] = [];
    const byId = new Map<string, TreeRecord>();
    const names = new Set<string>();
    let last: TreeRecord | null = null;
    for (const piece of pieces) {
      const { record: line } = piece;
      if (piece.sort !== 'record' || !line) continue;
      if (!isMessage(line)) {
        if (line.row !== undefined) skipped.push({ line: piece.line, reason: rowReason(line.row) });
        continue;
      }
      const id = idOf(line);
      const after = about?.parents.get(id);
      const parent: TreeRecord | null = after === undefined ? last : after === null ? null : (byId.get(after) ?? last);
      const name = nameOf(line);
      if (names.has(name)) {
        aside.add(piece);
        skipped.push({ line: piece.line, reason: 'the same message, of the same moment, stands before: it is kept aside' });
        continue;
      }
      names.add(name);
      named.set(piece, name);
      const at = timeOf(line);
      const results = resultNames(line, name);
      const starts = startsIn(line);
      const kept = isSummary(line) && parent ? keptBefore(parent) : [];
      const node: TreeRecord = {
        name,
        piece,
        part: partOf(line),
        parent,
        stored: piece.range.start < context.resumeAt || ((parent === null || parent.stored) && context.known.has(name)),
        ...(at === undefined ? {} : { at }),
        ...(starts.length + results.length > 0 ? { others: [...starts, ...results] } : {}),
        ...(results.length > 0 ? { end: results.at(-1) as string } : {}),
        ...(kept.length > 0 ? { kept } : {}),
        ...(startedBy === undefined || parent ? {} : { startedBy }),
      };
      all.push(node);
      byId.set(id, node);
      last = node;
    }
    return all;
  }

  /** What a compaction keeps beside its summary: from the message that its request names up to that request. */
  function keptBefore(request: TreeRecord): readonly TreeRecord[] {
    const first = stringAt(compactionOf(request.piece.record as MessageLine), 'tail_start_id');
    const kept: TreeRecord[] = [];
    for (let at = first === undefined ? null : request.parent; at && 'piece' in at; at = at.parent) {
      if (repeats-- <= 0) {
        notes.push({
          line: request.piece.line,
          reason: 'compactions of this session keep more than can be repeated: what this one keeps is left out',
        });
        return [];
      }
      kept.push(at);
      if (idOf(at.piece.record as MessageLine) === first) return kept.reverse();
    }
    if (first !== undefined) notes.push({ line: request.piece.line, reason: `the message ${first} that the compaction keeps is not before it` });
    return [];
  }
}

/** The sessions that calls in a message started. */
const startsIn = (line: MessageLine): readonly string[] =>
  partsOf(line).flatMap(({ callID, state }) => {
    const started = isObject(state) ? stringAt(state.metadata, 'sessionId') : undefined;
    return started !== undefined && typeof callID === 'string' ? [startedWith(started, callID)] : [];
  });

function rowReason(row: Json): string {
  const [table, id] = [stringAt(row, 'table') ?? 'message', stringAt(row, 'id')];
  return `a row of the table ${inWords(table)}${id === undefined ? '' : ` (${inWords(id)})`} that holds no ${inWords(table)}: it is kept as it is`;
}

/** The session's own line is written anew each time; an answer that is not finished is left for the next import. */
function withoutOpenEnd(scan: Scan): Scan {
  const last = scan.pieces.findLastIndex(({ record }) => record !== undefined && isMessage(record));
  const message = scan.pieces[last];
  const open = message?.record && isMessage(message.record) && isOpen(message.record) ? message : undefined;
  const from = open ? last : last + 1;
  return {
    ...scan,
    pieces: open
      ? scan.pieces.map((piece) => (piece === open ? { line: piece.line, range: piece.range, sort: 'half' as const } : piece))
      : scan.pieces,
    skipped: open ? [...scan.skipped, { line: open.line, reason: 'an answer that is not finished: left for the next import' }] : scan.skipped,
    end: scan.pieces[from]?.range.start ?? scan.end,
  };
}

function partOf(line: MessageLine): Part {
  if (isSummary(line)) return 'compaction';
  const parts = partsOf(line);
  if (roleOf(line) === 'assistant') return parts.some((part) => typeOf(part) === 'tool') ? 'round' : 'answer';
  if (roleOf(line) === 'tool') return 'result';
  if (compactionOf(line)) return 'boundary';
  const isTyped = parts.some((part) => (typeOf(part) === 'text' && part.synthetic !== true) || typeOf(part) === 'file' || typeOf(part) === 'subtask');
  return roleOf(line) === 'user' && isTyped ? 'prompt' : 'quiet';
}

/** Entries of lines that stand one after the other in a delta; what a line is called is a digest of it, and known of some. */
function readPieces(pieces: readonly Piece[], named?: ReadonlyMap<Piece, string>): { entries: readonly ParsedEntry[]; elisions: readonly Elision[] } {
  const entries: ParsedEntry[] = [];
  let at = 0;
  for (const piece of pieces) {
    const { record, range, sort } = piece;
    const raw = { start: at, end: at + range.end - range.start };
    at = raw.end;
    if (!record || sort !== 'record' || !isMessage(record)) continue;
    for (const entry of entriesOf(record, named?.get(piece) ?? nameOf(record), raw)) entries.push(entry);
  }
  return { entries, elisions: [] };
}

export function parse(delta: Uint8Array): ParsedDelta {
  const { pieces, skipped } = scanLines(delta);
  return { ...readPieces(pieces), problems: skipped };
}

function summaryOf(records: readonly TreeRecord[]): string | undefined {
  const lines = records.map(({ piece }) => piece.record as MessageLine);
  if (records.at(-1)?.part === 'compaction') {
    const auto = lines.map((line) => compactionOf(line)?.auto).find((one) => one !== undefined);
    return auto === undefined ? 'Compaction' : `Compaction (${auto ? 'auto' : 'manual'})`;
  }
  const asked = records.find(({ part }) => part === 'prompt')?.piece.record as MessageLine | undefined;
  const texts = (line: MessageLine): readonly string[] =>
    partsOf(line).flatMap((part: JsonObject) => (typeOf(part) === 'text' && part.synthetic !== true ? (stringAt(part, 'text') ?? []) : []));
  for (const line of [...(asked ? [asked] : []), ...lines.filter((one) => roleOf(one) === 'assistant')]) {
    const text = texts(line)
      .map(clip)
      .find((one) => one !== undefined);
    if (text !== undefined) return text;
  }
  const tools = new Set(lines.flatMap((line) => partsOf(line).flatMap((part) => (typeOf(part) === 'tool' ? (stringAt(part, 'tool') ?? []) : []))));
  return tools.size > 0 ? clip([...tools].join(', ')) : undefined;
}
