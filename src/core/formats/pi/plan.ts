import { defined, isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { ImportPlan, ParsedDelta, ParsedEntry, Peek, PlanContext } from '../format.js';
import { type Content, planBranches, type TreeRecord } from '../shared/branches.js';
import { identifyRecord } from '../shared/copies.js';
import { objectsIn } from '../shared/drafts.js';
import { clip } from '../shared/headline.js';
import { type RecordPiece, readTime, recordsOf } from '../shared/jsonl.js';
import { firstIn, madeBy, maxNameLength, newProblems } from '../shared/plans.js';
import { inDelta } from '../shared/records.js';
import { type ContentEdit, readEntries } from './parse.js';
import { growTree } from './plan-tree.js';
import { bytesIn, isChained, isHeader, nameRecord, readId, readMessage, readRole, roleInTurn, scanLines, writeHeadline } from './schema.js';

export const formatId = 'pi-v1';

/** Plans the import of a session from its bytes, its name and what the project knows. */
export function planImport(file: Uint8Array, context: PlanContext): ImportPlan {
  const scan = scanLines(file, { mayGrow: true, identity: identifyRecord });
  const header = scan.pieces.find(({ record, sort }) => sort === 'record' && record && isHeader(record))?.record;
  const cwd = stringAt(header, 'cwd');
  const sessionId = stringAt(header, 'id')?.slice(0, maxNameLength);
  const tree = growTree(file, scan.pieces, context);
  const made = madeBy('pi', { cwd: cwd || undefined, sessionId });
  const fresh = newProblems(scan.pieces, context.resumeAt);
  return {
    format: formatId,
    ...defined({ sessionId, title: titleIn(scan.pieces), cwd }),
    ...planBranches(tree, context, { ...made, read: (pieces) => readPieces(file, pieces), summary: writeSummary }),
    skipped: fresh([...scan.skipped, ...tree.skipped]),
    notes: fresh([...scan.notes, ...tree.notes]),
    end: scan.end,
  };
}

/** The entries of records that follow each other in a delta, with context edits applied. */
function readPieces(file: Uint8Array, pieces: readonly RecordPiece[]): Content {
  const edits = new Map<string, ContentEdit | null>();
  for (const { record } of pieces) {
    const target = record?.type === 'context_edit' ? stringAt(record, 'targetId') : undefined;
    if (target === undefined) continue;
    const replacement = record?.replacement;
    edits.set(target, isObject(replacement) ? { content: replacement.content ?? [] } : null);
  }
  const entries: ParsedEntry[] = [];
  for (const [piece, raw] of inDelta(pieces)) {
    const { record } = piece;
    if (!record || !isChained(record)) continue;
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
  if (records[0]?.part === 'compaction') return 'Compaction';
  const recordOf = ({ piece }: TreeRecord): JsonObject => piece.record as JsonObject;
  const asked = records.find(({ part }) => part === 'prompt');
  const answers = records.map(recordOf).filter((record) => readRole(record) === 'assistant');
  const headline = (asked && writeHeadline(recordOf(asked))) ?? firstIn(answers, writeHeadline);
  return headline ?? clip([...new Set(answers.flatMap(callNames))].join(', '));
}

const callNames = (record: JsonObject): readonly string[] =>
  objectsIn(readMessage(record).content).flatMap((block) => (block.type === 'toolCall' ? (stringAt(block, 'name') ?? []) : []));

/** The last name that the session was given. An empty name removes it. */
function titleIn(pieces: readonly RecordPiece[]): string | undefined {
  const named = pieces.findLast(({ record }) => record?.type === 'session_info')?.record;
  return clip(stringAt(named, 'name') ?? '');
}

/** Reads the first and the last bytes of a session. Lines cut in two are skipped. */
export function peek(head: Uint8Array, tail: Uint8Array): Peek {
  const beginning = scanLines(head).pieces;
  const records = recordsOf(beginning);
  const header = records.find(isHeader);
  return defined({
    sessionId: stringAt(header, 'id'),
    cwd: stringAt(header, 'cwd'),
    title: titleIn([...beginning, ...scanLines(tail).pieces]),
    firstPrompt: firstIn(records, (record) => (roleInTurn(record) === 'prompt' ? writeHeadline(record) : undefined)),
    startedAt: header && readTime(header),
  });
}
