import { type ContextId, timestampOf } from '../base/index.js';
import { addCommit, type Chain, type ContextRow, commitAt, commitEndingAt, remember, rememberAll, saveOutline } from '../chain/index.js';
import type { Skip } from '../contract/index.js';
import { type FileBytes, formatOf, type ImportPlan, outlined, type PlannedCommit, startOf } from '../formats/index.js';
import { callsOfDelta, hasCalls, joinAnswers, type ReadCalls, takeRecords } from '../requests/index.js';
import { type CountedCommit, openRecorder } from '../usage/index.js';
import type { FoundFile, OpenFile } from './files.js';
import { contiguous, joined, layOut, type PlacedPiece, piecesIn, piecesUpTo, splitSide, storeSide } from './pieces.js';
import { principalOf, type Signed, signedFor, signedName } from './signed.js';
import { type SourceRow, saveSource } from './sources.js';
import { rememberWaiting, type Store } from './waiting.js';

/** The result of importing one file. */
export interface FileResult {
  readonly commits: number;
  readonly entries: number;
  readonly tips: readonly ContextId[];
  readonly sessions: number;
  readonly skipped: readonly Skip[];
  readonly notes: readonly Skip[];
}

interface Storing {
  readonly signed?: Signed | undefined;
  readonly found: FoundFile;
  readonly file: OpenFile;
  readonly hash: Buffer;
  readonly plan: ImportPlan;
  readonly grown: SourceRow | undefined;
  /** The request records of a new file, where it has any. */
  readonly calls: ReadCalls | undefined;
}

/** Stores the planned commits of a file, and the file itself as a source. Call inside a transaction. */
export function store(chain: Chain, { found, file, hash, plan, grown, calls, signed }: Storing): FileResult {
  const { bytes } = file;
  const from = grown?.resumeAt ?? 0;
  const recordCalls = openRecorder(chain);
  const { problem: claim, machine = plan.machine, ...signer } = signedFor(chain, { signed, plan, grown });
  const own = { ...signer, machine };
  const counted: CountedCommit[] = [];
  const rows: ContextRow[] = [];
  const pieces: PlacedPiece[] = [];
  let commits = 0;
  let entries = 0;
  let opening: Pick<PlannedCommit, 'summary'> | undefined;
  const storeAll = function* (): Generator<{ readonly seq: ContextRow['seq']; readonly records: readonly string[] }> {
    for (const planned of plan.commits) {
      const stored = storeCommit(chain, found, bytes, plan.format, planned, rows, own);
      rows.push(stored.row);
      counted.push(stored);
      if (planned.type === 'delta') opening ??= planned.summary === undefined ? {} : { summary: planned.summary };
      pieces.push(...stored.pieces);
      commits += stored.isNew ? 1 : 0;
      entries += stored.entries;
      yield { seq: stored.row.seq, records: planned.records };
    }
  };
  rememberAll(chain, storeAll());
  // Request records are side data. A grown file may contain the answer to a call of its earlier part.
  const hasSide = plan.side.length > 0 || (grown !== undefined && hasCalls(chain, grown.no));
  const requests = hasSide ? takeRecords(chain, { bytes, whole: file.whole, format: plan.format, from, source: grown?.no, read: calls }) : undefined;
  const { own: side, others } = splitSide(plan.side, requests?.stored ?? []);
  pieces.push(...side, ...storeSide(chain, bytes, others));
  const tips = tipRows(chain, plan, rows);
  const [first] = rows;
  if (plan.awaits !== undefined && first) rememberWaiting(chain, first.seq, plan.awaits);
  const kept = grown ? piecesUpTo(grown.pieces, from) : [];
  const laidOut = layOut(chain, bytes, pieces, from);
  const resumeAt = plan.end;
  const source = saveSource(chain, {
    replaces: grown?.no,
    path: found.path,
    format: plan.format,
    size: bytes.length,
    hash,
    resumeAt,
    resumeHash: resumeAt === bytes.length ? hash : file.hash(resumeAt),
    sessionId: plan.sessionId ?? grown?.sessionId ?? null,
    title: plan.title ?? grown?.title ?? opening?.summary ?? null,
    cwd: plan.cwd ?? grown?.cwd ?? null,
    tips: (tips.length ? tips : grown ? grown.tips.map((seq) => commitAt(chain, seq)) : []).map((row) => row.seq),
    pieces: [...kept, ...laidOut.pieces],
  });
  requests?.save(source);
  joinAnswers(chain, rows);
  recordCalls(counted);
  const place = (problem: { line: number; reason: string }): Skip => ({ path: found.path, line: problem.line, reason: problem.reason });
  return {
    commits,
    entries,
    tips: tips.map((row) => row.id),
    sessions: 1,
    skipped: [...plan.skipped, ...(requests?.problems ?? []), ...(claim === undefined ? [] : [{ line: 0, reason: claim }])].map(place),
    notes: [...plan.notes.map(place), ...laidOut.notes.map(place)],
  };
}

const tipRows = (chain: Chain, plan: Pick<ImportPlan, 'tips'>, rows: readonly ContextRow[]): ContextRow[] =>
  plan.tips.flatMap((tip) => ('plan' in tip ? rows[tip.plan] : commitEndingAt(chain, tip)) ?? []);

/** Stores the commits of a new plan for a file that is stored already. Their records lead to the new commits from now on. */
export const replaceStored =
  (chain: Chain): Store =>
  ({ path, importedAt }, bytes, plan) => {
    const rows: ContextRow[] = [];
    for (const planned of plan.commits) {
      const { row } = storeCommit(chain, { root: path, path, bytes: bytes.length, modifiedAt: importedAt }, bytes, plan.format, planned, rows);
      rows.push(row);
      remember(chain, row, planned.records);
      chain.db.run(
        'UPDATE record SET context = ? WHERE project = ? AND record IN (SELECT value FROM json_each(?))',
        row.seq,
        chain.project,
        JSON.stringify(planned.records),
      );
    }
    return tipRows(chain, plan, rows).map(({ seq }) => seq);
  };

function storeCommit(
  chain: Chain,
  file: FoundFile,
  bytes: FileBytes,
  format: string,
  planned: PlannedCommit,
  rows: readonly ContextRow[],
  signed: Signed = {},
): CountedCommit & { row: ContextRow; pieces: PlacedPiece[]; isNew: boolean; entries: number } {
  const parent = parentOf(chain, planned, rows);
  const ranges = contiguous(planned.ranges);
  const delta = joined(bytes, planned.kept ? contiguous([...ranges, ...planned.kept]) : ranges);
  const { no, ref } = chain.artifacts.put(delta, { contentType: formatOf(format).contentType, bulk: true });
  const { data, counts, calls } = planned.outline ?? outlined(planned);
  const highest = chain.db.one<{ seq: number | null }>('SELECT MAX(seq) AS seq FROM context')?.seq ?? 0;
  const row = addCommit(chain, {
    parent,
    type: planned.type,
    artifact: no,
    ref,
    format,
    template: planned.template,
    principal: signed.principal === undefined ? principalOf(planned) : signedName(signed.principal, planned),
    machine: signed.machine,
    ticketId: signed.ticketId,
    sessionId: planned.sessionId,
    checkpoint: planned.checkpoint,
    summary: planned.summary,
    messageCount: planned.type === 'compaction' ? 0 : counts.messages,
    tokenCount: counts.tokens,
    errors: counts.errors,
    entries: counts.entries,
    forked: false,
    // A turn without a time gets that of its parent or of the file's last change.
    createdAt: planned.createdAt ?? timestampOf(parent?.createdAt ?? file.modifiedAt),
  });
  saveOutline(chain, no, format, data);
  if (planned.startedBy)
    chain.db.run(
      'INSERT OR IGNORE INTO started (context, project, toolCallId) VALUES (?, ?, ?)',
      row.seq,
      chain.project,
      'toolCallId' in planned.startedBy ? planned.startedBy.toolCallId : startOf(planned.startedBy.sessionId),
    );
  return {
    row,
    pieces: piecesIn(no, ranges),
    isNew: row.seq > highest,
    entries: counts.entries,
    calls:
      planned.type === 'delta' && calls
        ? calls
        : callsOfDelta({
            format,
            type: planned.type,
            bytes: () => delta,
            entries: () => planned.entries,
          }),
  };
}

function parentOf(chain: Chain, planned: Pick<PlannedCommit, 'parent'>, rows: readonly ContextRow[]): ContextRow | null {
  if (planned.parent === null) return null;
  if ('plan' in planned.parent) {
    const row = rows[planned.parent.plan];
    if (!row) throw new Error(`the plan names commit ${planned.parent.plan} as a parent before it is made`);
    return row;
  }
  return commitEndingAt(chain, planned.parent) ?? null;
}
