import { type CommitSeq, timestampOf } from '../base/index.js';
import { addCommit, type ContextRow, commitAt, commitEndingAt, remember, rememberAll, saveOutline, type WriteChain } from '../chain/index.js';
import type { Checkpoint, ImportResult, Skip } from '../contract/index.js';
import { type FileBytes, formatOf, type ImportPlan, outlined, type PlannedCommit, startOf } from '../formats/index.js';
import { callsOfDelta, contentBefore, hasCalls, joinAnswers, type ReadCalls, takeRecords } from '../requests/index.js';
import { type CountedCommit, openRecorder } from '../usage/index.js';
import type { FoundFile, OpenFile } from './files.js';
import { joinFork } from './join-fork.js';
import { contiguous, joined, layOut, type PlacedPiece, piecesIn, piecesUpTo, splitSide, storeSide } from './pieces.js';
import { principalOf, type Signed, signedFor, signedName } from './signed.js';
import { type SourceRow, saveSource } from './sources.js';
import { rememberWaiting, type Store } from './waiting.js';

/** The result of importing one file. */
export type FileResult = Omit<ImportResult, 'bytes' | 'requests' | 'ms'>;

interface Storing {
  readonly signed?: Signed | undefined;
  readonly found: FoundFile;
  readonly file: OpenFile;
  readonly hash: Buffer;
  readonly plan: ImportPlan;
  readonly grown: SourceRow | undefined;
  /** The request records of a new file, if it has any. */
  readonly calls: ReadCalls | undefined;
  /** The checkpoint of the commit that the agent would resume, if this file contains it. */
  readonly last: Checkpoint | undefined;
}

/** The number of commits whose calls are stored together. */
const countedAtOnce = 1_000;

/** Stores the planned commits of a file, and the file itself as a source. Call inside a transaction. */
export function store(chain: WriteChain, { found, file, hash, plan: given, grown, calls, signed, last }: Storing): FileResult {
  const { bytes } = file;
  const plan = joinFork(chain, given, bytes);
  const from = grown?.resumeAt ?? 0;
  const recordCalls = openRecorder(chain);
  const { problem: claim, machine = plan.machine, ...signer } = signedFor(chain, { signed, plan, grown });
  const own = { ...signer, machine };
  const counted: CountedCommit[] = [];
  const made = new MadeCommits(chain);
  const pieces: PlacedPiece[] = [];
  let commits = 0;
  let entries = 0;
  let opening: Pick<PlannedCommit, 'summary'> | undefined;
  const tip = plan.tips.at(-1);
  const endsWith = (number: number): Checkpoint | undefined => (tip && 'plan' in tip && tip.plan === number ? last : undefined);
  const storeAll = function* (): Generator<{ readonly seq: ContextRow['seq']; readonly records: readonly string[] }> {
    for (const planned of plan.commits) {
      const stored = storeCommit(chain, found, bytes, plan.format, planned, made, { ...own, checkpoint: endsWith(made.seqs.length) });
      made.add(stored.row);
      counted.push(stored);
      if (counted.length === countedAtOnce) recordCalls(counted.splice(0));
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
  const isOlderCopy = !grown && plan.commits.length === 0;
  const tips = tipRows(chain, plan, made, isOlderCopy ? plan.sessionId : undefined);
  const [first] = made.seqs;
  if (plan.awaits !== undefined && first !== undefined) rememberWaiting(chain, first, plan.awaits);
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
  joinAnswers(chain, made.seqs);
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

/** The stored commits of a plan, by their numbers in the plan. Holds only the last row in memory, because a file can have many. */
class MadeCommits {
  readonly seqs: CommitSeq[] = [];
  #last: ContextRow | undefined;
  readonly #chain: WriteChain;

  constructor(chain: WriteChain) {
    this.#chain = chain;
  }

  add(row: ContextRow): void {
    this.seqs.push(row.seq);
    this.#last = row;
  }

  at(number: number): ContextRow {
    const seq = this.seqs[number];
    if (seq === undefined) throw new Error(`the plan refers to commit ${number} before it is stored`);
    return this.#last?.seq === seq ? this.#last : commitAt(this.#chain, seq);
  }
}

const tipRows = (chain: WriteChain, plan: Pick<ImportPlan, 'tips'>, made: MadeCommits, olderCopyOf?: string): ContextRow[] =>
  plan.tips.flatMap((tip) => ('plan' in tip ? made.at(tip.plan) : commitEndingAt(chain, tip, olderCopyOf)) ?? []);

/** Stores the commits of a new plan for a file that is stored already. From now on, their records belong to the new commits. */
export const replaceStored =
  (chain: WriteChain): Store =>
  ({ path, importedAt }, bytes, plan) => {
    const made = new MadeCommits(chain);
    for (const planned of plan.commits) {
      const { row } = storeCommit(chain, { root: path, path, bytes: bytes.length, modifiedAt: importedAt }, bytes, plan.format, planned, made);
      made.add(row);
      remember(chain, row, planned.records);
      chain.db.run(
        'UPDATE record SET context = ? WHERE project = ? AND record IN (SELECT value FROM json_each(?))',
        row.seq,
        chain.project,
        JSON.stringify(planned.records),
      );
    }
    return tipRows(chain, plan, made).map(({ seq }) => seq);
  };

function storeCommit(
  chain: WriteChain,
  file: FoundFile,
  bytes: FileBytes,
  format: string,
  planned: PlannedCommit,
  made: MadeCommits,
  { checkpoint, ...signed }: Signed & { readonly checkpoint?: Checkpoint | undefined } = {},
): CountedCommit & { row: ContextRow; pieces: PlacedPiece[]; isNew: boolean; entries: number } {
  const parent = parentOf(chain, planned, made);
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
    checkpoint: (planned.type === 'delta' ? checkpoint : undefined) ?? planned.checkpoint,
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
            before: contentBefore(chain, row),
          }),
  };
}

function parentOf(chain: WriteChain, { parent }: Pick<PlannedCommit, 'parent'>, made: MadeCommits): ContextRow | null {
  if (parent === null) return null;
  return 'plan' in parent ? made.at(parent.plan) : (commitEndingAt(chain, parent) ?? null);
}
