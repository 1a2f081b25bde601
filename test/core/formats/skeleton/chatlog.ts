// chatlog: the histories of an imaginary agent, JSONL files with one message a line.
// docs/add-a-format.md shows this file. A real format splits it into schema.ts, parse.ts, plan.ts and write.ts.
// {"id": "m1", "role": "user", "text": "Hello", "timestamp": "2026-01-01T00:00:00.000Z"}
import { type ByteRange, badRequest, type EntryKey, encodeText, type JsonObject, stringAt } from '../../../../src/core/base/index.js';
import type { ImportableFormat, ImportPlan, ParsedEntry, PlanContext, WritableEntry, WriteOptions } from '../../../../src/core/formats/format.js';
import { planBranches, type TreeRecord } from '../../../../src/core/formats/shared/branches.js';
import { clip } from '../../../../src/core/formats/shared/headline.js';
import { concatLines, type Dialect, firstNewLine, type RecordPiece, readTime, scanJsonl } from '../../../../src/core/formats/shared/jsonl.js';
import { countTokens } from '../../../../src/core/formats/shared/tokens.js';

const formatId = 'chatlog-v1';

/** How records look, so that a torn line can be split. */
const dialect: Dialect = { beginning: /\{"id":/g, isWhole: (record) => 'role' in record };

const isMessage = (record: JsonObject | undefined): record is JsonObject => typeof record?.id === 'string' && typeof record.role === 'string';
const messagesIn = (pieces: readonly RecordPiece[]): readonly RecordPiece[] =>
  pieces.filter(({ record, sort }) => sort === 'record' && isMessage(record));

/** The entry of a record. A key is the record's id and a number; it must be the same in every commit, fork and export. */
function entryOf(record: JsonObject, raw: ByteRange): ParsedEntry {
  const { input } = record;
  const [text, tool, call, message] = ['text', 'tool', 'call', 'message'].map((name) => stringAt(record, name));
  const at = readTime(record);
  const isResult = record.role === 'tool';
  return {
    key: `${String(record.id)}.0` as EntryKey,
    role: isResult ? 'tool' : record.role === 'assistant' ? 'assistant' : record.role === 'system' ? 'system' : 'user',
    kind: isResult ? 'tool_result' : input === undefined ? 'text' : 'tool_call',
    tokens: countTokens(text ?? JSON.stringify(input) ?? ''),
    raw,
    ...(text !== undefined && { text }),
    ...(tool !== undefined && { toolName: tool }),
    ...(call !== undefined && { toolCallId: call }),
    // Calls of one message are one reply of the model.
    ...(message !== undefined && { messageId: message }),
    ...(input !== undefined && { arguments: input }),
    ...(at !== undefined && { at }),
  };
}

/** Entries of records that follow each other in a delta. `raw` is their place in the delta, not in the file. */
function readPieces(pieces: readonly RecordPiece[]): readonly ParsedEntry[] {
  let end = 0;
  return pieces.flatMap(({ record, range }) => {
    const raw = { start: end, end: end + range.end - range.start };
    end = raw.end;
    return isMessage(record) ? [entryOf(record, raw)] : [];
  });
}

/** The kinds of entries that a line can hold. Others are left out, and `holds` makes Stemma report each as a loss. */
const kinds = ['text', 'summary', 'tool_call', 'tool_result'];

function lineOf(entry: WritableEntry, { newId, now }: WriteOptions): string {
  const id = entry.key?.replace(/\.0$/, '') ?? newId();
  const { role, text, toolName: tool, toolCallId: call, messageId: message, arguments: input, at: timestamp = now } = entry;
  return `${JSON.stringify({ id, message, role, text, tool, call, ...(entry.kind === 'tool_call' && { input: input ?? {} }), timestamp })}\n`;
}

/** One commit for each turn: `planBranches` cuts the tree of records into commits and gives every byte of the file a place. */
function planImport(file: Uint8Array, context: PlanContext): ImportPlan {
  const scan = scanJsonl(file, dialect, { mayGrow: true });
  let parent: TreeRecord | null = null;
  const records = messagesIn(scan.pieces).map((piece): TreeRecord => {
    const { id, role } = piece.record as JsonObject;
    const name = `chatlog:${String(id)}`;
    const part = role === 'user' ? 'prompt' : role === 'tool' ? 'result' : 'answer';
    parent = { name, piece, part, parent, stored: piece.range.start < context.resumeAt || context.known.has(name) };
    return parent;
  });
  const freshFrom = firstNewLine(scan.pieces, context.resumeAt);
  return {
    format: formatId,
    ...planBranches({ pieces: scan.pieces, records, aside: new Set() }, context, {
      template: 'chatlog',
      read: (pieces) => ({ entries: readPieces(pieces), elisions: [] }),
      summary: ([first]) => clip(stringAt(first?.piece.record, 'text') ?? ''),
    }),
    skipped: scan.skipped.filter(({ line }) => line >= freshFrom),
    notes: scan.notes.filter(({ line }) => line >= freshFrom),
    end: scan.end,
  };
}

export const chatlog: ImportableFormat = {
  id: formatId,
  contentType: 'application/jsonl',
  about: { name: 'Chat log', what: 'A log that the imaginary agent reads.', extension: 'jsonl' },
  tier: 'translated',
  holds: ['system', 'time'],
  recognize: (head) => (isMessage(scanJsonl(head, dialect).pieces[0]?.record) ? 1 : 0),
  parse: (delta) => {
    const { pieces, skipped } = scanJsonl(delta, dialect);
    return { entries: readPieces(pieces), elisions: [], problems: skipped };
  },
  write: (entries, options) => {
    const written = entries.filter(({ kind }) => kinds.includes(kind));
    return encodeText(written.map((entry) => lineOf(entry, options)).join(''));
  },
  concat: concatLines,
  cut: (delta, lastKept) => {
    const last = messagesIn(scanJsonl(delta, dialect).pieces).find(({ record }) => `${String(record?.id)}.0` === lastKept);
    if (!last) throw badRequest('at', `at is ${lastKept}, but this delta has no such entry`);
    return delta.slice(0, last.range.end);
  },
  plan: planImport,
  peek: (head) => {
    const first = messagesIn(scanJsonl(head, dialect).pieces).find(({ record }) => record?.role === 'user')?.record;
    const firstPrompt = clip(stringAt(first, 'text') ?? '');
    return firstPrompt === undefined ? {} : { firstPrompt };
  },
};
