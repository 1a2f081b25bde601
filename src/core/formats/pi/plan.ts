import { defined, isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { Elision, ImportPlan, ParsedDelta, ParsedEntry, PlanContext, Problem } from '../format.js';
import { planBranches, type TreeRecord } from '../shared/branches.js';
import { identifyRecord } from '../shared/copies.js';
import { clip } from '../shared/headline.js';
import { firstNewLine, type RecordPiece } from '../shared/jsonl.js';
import { type ContentEdit, readEntries } from './parse.js';
import { growTree } from './plan-tree.js';
import { bytesIn, isChained, isHeader, nameRecord, readId, readRole, scanLines, writeHeadline } from './schema.js';

export const formatId = 'pi-v1';
const template = 'pi';
const maxNameLength = 400;

/** Plans the import of a session from its bytes, its name and what the project knows. */
export function planImport(file: Uint8Array, context: PlanContext): ImportPlan {
  const scan = scanLines(file, { mayGrow: true, identity: identifyRecord });
  const header = scan.pieces.find(({ record, sort }) => sort === 'record' && record && isHeader(record))?.record;
  const cwd = stringAt(header, 'cwd');
  const sessionId = stringAt(header, 'id')?.slice(0, maxNameLength);
  const tree = growTree(file, scan.pieces, context);
  const planned = planBranches(tree, context, {
    template,
    ...(cwd === undefined || cwd === '' ? {} : { principal: `${template}@${cwd}`.slice(0, maxNameLength) }),
    ...(sessionId === undefined ? {} : { sessionId }),
    read: (pieces) => readPieces(file, pieces),
    summary: writeSummary,
  });
  const title = titleIn(scan.pieces);
  const freshFrom = firstNewLine(scan.pieces, context.resumeAt);
  const fresh = (problems: readonly Problem[]): Problem[] => problems.filter(({ line }) => line >= freshFrom).sort((a, b) => a.line - b.line);
  return {
    format: formatId,
    ...defined({ sessionId, title, cwd }),
    ...planned,
    skipped: fresh([...scan.skipped, ...tree.skipped]),
    notes: fresh([...scan.notes, ...tree.notes]),
    end: scan.end,
  };
}

import { inDelta } from '../shared/records.js';

/** The entries of records that follow each other in a delta, with context edits applied. */
export function readPieces(file: Uint8Array, pieces: readonly RecordPiece[]): { entries: readonly ParsedEntry[]; elisions: readonly Elision[] } {
  const edits = new Map<string, ContentEdit | null>();
  for (const { record } of pieces) {
    const target = record?.type === 'context_edit' ? stringAt(record, 'targetId') : undefined;
    if (target === undefined) continue;
    const replacement = record?.replacement;
    edits.set(target, isObject(replacement) ? { content: replacement.content ?? [] } : null);
  }
  const entries: ParsedEntry[] = [];
  for (const [piece, raw] of inDelta(pieces)) {
    const { record, sort } = piece;
    if (!record || sort !== 'record' || !isChained(record)) continue;
    const edit = edits.get(readId(record) ?? '');
    for (const entry of readEntries(record, nameRecord(record, bytesIn(file, piece)), raw, edit)) entries.push(entry);
  }
  return { entries, elisions: [] };
}

/** Reads a delta. Never throws for its content. */
export function parse(delta: Uint8Array): ParsedDelta {
  const { pieces, skipped } = scanLines(delta);
  return { ...readPieces(delta, pieces), problems: skipped };
}

function writeSummary(records: readonly TreeRecord[]): string | undefined {
  const of = (record: TreeRecord): JsonObject => record.piece.record as JsonObject;
  if (records[0]?.part === 'compaction') return 'Compaction';
  const asked = records.find((record) => record.part === 'prompt');
  const headline = asked && writeHeadline(of(asked));
  if (headline !== undefined) return headline;
  const answers = records.filter((record) => readRole(of(record)) === 'assistant');
  const said = answers.map((record) => writeHeadline(of(record))).find((text) => text !== undefined);
  if (said !== undefined) return said;
  const tools = new Set(answers.flatMap((record) => callNames(of(record))));
  return tools.size > 0 ? clip([...tools].join(', ')) : undefined;
}

function callNames(record: JsonObject): readonly string[] {
  const content = isObject(record.message) ? record.message.content : undefined;
  return Array.isArray(content)
    ? content.flatMap((block) => (isObject(block) && block.type === 'toolCall' ? (stringAt(block, 'name') ?? []) : []))
    : [];
}

/** The last name that the session was given. An empty name removes it. */
export function titleIn(pieces: readonly RecordPiece[]): string | undefined {
  const named = pieces.findLast(({ record }) => record?.type === 'session_info')?.record;
  return clip(stringAt(named, 'name') ?? '');
}
