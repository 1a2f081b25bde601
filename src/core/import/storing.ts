import { type ByteRange, type CommitSeq, toTimestamp } from '../base/index.js';
import {
  addCommit,
  type ContextRow,
  commitAt,
  commitEndingAt,
  goesOnWithTurn,
  noteGrowth,
  remember,
  rememberAll,
  type WriteChain,
} from '../chain/index.js';
import type { Checkpoint, ImportResult, Skip } from '../contract/index.js';
import { type FileBytes, startOf } from '../formats/index.js';
import { callsOfDelta, contentBefore, hasCalls, joinAnswers, type ReadCalls, takeRecords } from '../requests/index.js';
import { type CallRecorder, openRecorder } from '../usage/index.js';
import type { CommitBlock, StorableCommit, StorablePlan } from './ahead.js';
import { inBatches, type PreparedUnit, prepare, putContent, putContents, type StoredContent } from './contents.js';
import type { FoundFile, OpenFile } from './files.js';
import { joinFork } from './join-fork.js';
import { contiguous, layOut, type PlacedPiece, piecesIn, piecesUpTo, readDelta, sideObjects, splitSide, storeSide } from './pieces.js';
import type { Until } from './regroup.js';
import { principalOf, type Signed, signedFor, signedName } from './signed.js';
import { type SourceRow, saveSource } from './sources.js';
import { attachWaiting, rememberWaiting, type StoreContinuation, takeRecordsBack } from './waiting.js';

/** The result of importing one file. */
export interface FileResult extends Omit<ImportResult, 'bytes' | 'requests' | 'ms'> {
  /** Set if nothing was stored, because the import should end earlier. */
  readonly until?: Until;
}

interface Storing {
  readonly signed?: Signed | undefined;
  readonly found: FoundFile;
  readonly file: OpenFile;
  readonly hash: Buffer;
  readonly plan: StorablePlan;
  readonly grown: SourceRow | undefined;
  /** The contents of the commits of the plan that were compressed ahead. */
  readonly blocks?: readonly CommitBlock[] | undefined;
  /** The request records of a new file, if it has any. */
  readonly calls: ReadCalls | undefined;
  /** The checkpoint of the commit that the agent would resume, if this file contains it. */
  readonly last: Checkpoint | undefined;
  /** The commits of sessions that wait for this file. */
  readonly waiting: ReadonlySet<CommitSeq>;
  /** Stores the calls of the commits, if several files share it. */
  readonly recorder?: CallRecorder | undefined;
  /** Does a part of other work while others may write. Returns whether it did anything. */
  readonly meanwhile?: (() => boolean) | undefined;
}

/**
 * Milliseconds after which a transaction that adds commits ends, and the time that others then have to write. Records lie at random places of their table,
 * so each transaction writes about as many pages as it adds records: few long transactions write less than many short ones.
 */
const commitMs = 80;
const pauseMs = 10;
/** The most of that time that is left for the calls of the commits. */
const mostCallsShare = 0.75;

/** Runs work in a transaction of the import. It throws if another process changed what the plan is based on. `made` are the commits so far. */
export type InTransaction = <T>(made: readonly CommitSeq[], work: () => T) => T;

/**
 * Stores the planned commits of a file, and the file itself as a source. A large file is stored in many short transactions, so that others can
 * write meanwhile: first its content, as objects that nothing names yet; then its commits, parents first; and the source last. If the process
 * ends between them, the next import continues after the commits that are stored.
 * @param contentIsRead is called when all bytes of the file have been read. If it throws, no commit of a large file is stored.
 */
export function store(chain: WriteChain, given: Storing, inTransaction: InTransaction, contentIsRead: () => void): FileResult {
  const plan = joinFork(chain, given.plan, given.file.bytes);
  const storing = { ...given, plan, blocks: plan === given.plan ? given.blocks : undefined };
  const storer = new Storer(chain, storing);
  const batches = inBatches(plan.commits, storing.blocks);
  const sides = storing.calls || storing.grown ? [] : sideObjects(plan.side);
  if (batches.length + sides.length <= 2) {
    const prepared = batches.flat().map(prepare);
    return inTransaction([], () => {
      storer.putContents(prepared);
      storer.addCommits(Number.POSITIVE_INFINITY, true);
      return storer.finish(contentIsRead);
    });
  }
  for (const batch of batches) {
    const prepared = batch.map(prepare);
    inTransaction([], () => storer.putContents(prepared));
  }
  for (const ranges of sides) inTransaction([], () => storer.putSide(ranges));
  contentIsRead();
  while (!storer.hasAll) {
    inTransaction(storer.made.seqs, () => storer.addCommits(commitMs));
    if (!given.meanwhile?.()) pause(pauseMs);
  }
  return inTransaction(storer.made.seqs, () => storer.finish(() => {}));
}

/** Lets others write for this long. */
const pause = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Stores one file step by step. Each step runs inside a transaction. */
class Storer {
  readonly made: MadeCommits;
  readonly #contents: StoredContent[] = [];
  readonly #pieces: PlacedPiece[] = [];
  readonly #sides: PlacedPiece[] = [];
  readonly #own: Signed & { readonly machine?: string | undefined };
  readonly #problem: string | undefined;
  readonly #recorder: CallRecorder;
  #commits = 0;
  /** The part of a transaction that calls took last time. */
  #callsShare = mostCallsShare;
  #opening: Pick<StorableCommit, 'summary'> | undefined;

  constructor(
    private readonly chain: WriteChain,
    private readonly storing: Storing,
  ) {
    const { signed, plan, grown } = storing;
    const { problem, machine = plan.machine, ...signer } = signedFor(chain, { signed, plan, grown });
    this.#own = { ...signer, machine };
    this.#problem = problem;
    this.#recorder = storing.recorder ?? openRecorder(chain);
    this.made = new MadeCommits(chain);
  }

  /** Whether all commits of the plan are stored. */
  get hasAll(): boolean {
    return this.made.seqs.length === this.storing.plan.commits.length;
  }

  /** Stores the content of the next commits. */
  putContents(prepared: readonly PreparedUnit[]): void {
    for (const each of prepared) this.#contents.push(...putContents(this.chain, this.storing.file.bytes, this.storing.plan.format, each));
  }

  /** Stores side data whose ranges no model call contains. */
  putSide(ranges: readonly ByteRange[]): void {
    this.#sides.push(...storeSide(this.chain, this.storing.file.bytes, ranges));
  }

  /**
   * Adds commits whose content is stored, in the same transaction if `isFresh`: all of them, or as many as take this time together with their calls,
   * at least one.
   */
  addCommits(ms: number, isFresh = false): void {
    const { clock } = this.chain;
    rememberAll(this.chain, this.#commitsUntil(clock() + ms * (1 - this.#callsShare), isFresh));
    if (this.storing.recorder) return;
    const from = clock();
    this.#recorder.settle();
    this.#callsShare = Math.min((clock() - from) / ms, mostCallsShare);
  }

  *#commitsUntil(until: number, isFresh: boolean): Generator<{ readonly seq: ContextRow['seq']; readonly records: readonly string[] }> {
    const { chain, made } = this;
    let highest = chain.db.value<number | null>('SELECT MAX(seq) FROM commits') ?? 0;
    const { found, file, plan, last, waiting } = this.storing;
    const tip = plan.tips.at(-1);
    const shared = { file: found, bytes: file.bytes, format: plan.format, made };
    while (!this.hasAll) {
      const number = made.seqs.length;
      const planned = plan.commits[number] as StorableCommit;
      const content = isFresh ? (this.#contents[number] as StoredContent) : this.#soundContent(number);
      const checkpoint = tip && 'plan' in tip && tip.plan === number ? last : undefined;
      const stored = addPlanned(chain, { ...shared, planned, content, signed: { ...this.#own, checkpoint } });
      made.add(stored.row);
      takeRecordsBack(chain, stored.row.seq, planned.records, waiting);
      if (number === 0 && plan.awaits !== undefined) rememberWaiting(chain, stored.row.seq, plan.awaits);
      this.#recorder.add([stored]);
      if (planned.type === 'delta') this.#opening ??= planned.summary === undefined ? {} : { summary: planned.summary };
      this.#pieces.push(...stored.pieces);
      this.#commits += stored.row.seq > highest ? 1 : 0;
      highest = Math.max(highest, stored.row.seq);
      yield { seq: stored.row.seq, records: planned.records };
      if (chain.clock() >= until) return;
    }
  }

  /** The stored content of a commit. It is stored again if it was removed meanwhile, because nothing named it for a long time. */
  #soundContent(number: number): StoredContent {
    const content = this.#contents[number] as StoredContent;
    if (this.chain.artifacts.has(content.no, content.ref)) return content;
    const { file, plan } = this.storing;
    const again = putContent(this.chain, file.bytes, plan.format, plan.commits[number] as StorableCommit);
    this.#contents[number] = again;
    return again;
  }

  /** Stores the request records and the file as a source. `contentIsRead` is called last. */
  finish(contentIsRead: () => void): FileResult {
    const { chain, made } = this;
    const { found, file, hash, plan, grown, calls } = this.storing;
    const { bytes } = file;
    const from = grown?.resumeAt ?? 0;
    // Request records are side data. A grown file may contain the answer to a call of its earlier part.
    const hasSide = plan.side.length > 0 || (grown !== undefined && hasCalls(chain, grown.no));
    const requests = hasSide
      ? takeRecords(chain, { bytes, whole: file.whole, format: plan.format, from, source: grown?.no, read: calls })
      : undefined;
    const { own: side, others } = splitSide(plan.side, requests?.stored ?? []);
    const pieces = [...this.#pieces, ...side, ...(this.#sides.length > 0 ? this.#sides : storeSide(chain, bytes, others))];
    const isOlderCopy = !grown && plan.commits.length === 0;
    const tips = tipRows(chain, plan, made, isOlderCopy ? plan.sessionId : undefined);
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
      title: plan.title ?? grown?.title ?? this.#opening?.summary ?? null,
      cwd: plan.cwd ?? grown?.cwd ?? null,
      tips: (tips.length ? tips : grown ? grown.tips.map((seq) => commitAt(chain, seq)) : []).map((row) => row.seq),
      pieces: [...kept, ...laidOut.pieces],
    });
    requests?.save(source);
    joinAnswers(chain, made.seqs);
    const attached = attachWaiting(chain, found.path, replaceStored(chain), this.#recorder);
    contentIsRead();
    const place = ({ line, reason }: Omit<Skip, 'path'>): Skip => ({ path: found.path, line, reason });
    const refused = this.#problem === undefined ? [] : [{ line: 0, reason: this.#problem }];
    return {
      commits: this.#commits,
      entries: this.#contents.reduce((sum, { counts }) => sum + counts.entries, 0),
      tips: tips.map((row) => row.id),
      sessions: 1,
      skipped: [...plan.skipped, ...(requests?.problems ?? []), ...refused].map(place),
      notes: [...plan.notes.map(place), ...laidOut.notes.map(place), ...attached],
    };
  }
}

/** The stored commits of a plan, by their numbers in the plan. Holds only the last row in memory, because a file can have many. */
class MadeCommits {
  readonly seqs: CommitSeq[] = [];
  #last: ContextRow | undefined;

  constructor(private readonly chain: WriteChain) {}

  add(row: ContextRow): void {
    this.seqs.push(row.seq);
    this.#last = row;
  }

  at(number: number): ContextRow {
    const seq = this.seqs[number];
    if (seq === undefined) throw new Error(`the plan refers to commit ${number} before it is stored`);
    return this.#last?.seq === seq ? this.#last : commitAt(this.chain, seq);
  }
}

const tipRows = (chain: WriteChain, plan: Pick<StorablePlan, 'tips'>, made: MadeCommits, olderCopyOf?: string): ContextRow[] =>
  plan.tips.flatMap((tip) => ('plan' in tip ? made.at(tip.plan) : commitEndingAt(chain, tip, olderCopyOf)) ?? []);

/** Stores the commits of a new plan for a file that is stored already. From now on, their records belong to the new commits. */
export const replaceStored =
  (chain: WriteChain): StoreContinuation =>
  ({ path, importedAt }, bytes, plan) => {
    const made = new MadeCommits(chain);
    const file = { root: path, path, bytes: bytes.length, modifiedAt: importedAt };
    for (const planned of plan.commits) {
      const content = putContent(chain, bytes, plan.format, planned);
      const { row } = addPlanned(chain, { file, bytes, format: plan.format, planned, content, made });
      made.add(row);
      remember(chain, row, planned.records);
      const update = 'UPDATE record SET context = ? WHERE project = ? AND record IN (SELECT value FROM json_each(?))';
      chain.db.run(update, row.seq, chain.project, JSON.stringify(planned.records));
    }
    return { made: made.seqs, tips: tipRows(chain, plan, made).map(({ seq }) => seq) };
  };

interface Addition {
  readonly file: FoundFile;
  readonly bytes: FileBytes;
  readonly format: string;
  readonly planned: StorableCommit;
  readonly content: StoredContent;
  readonly made: MadeCommits;
  readonly signed?: Signed & { readonly checkpoint?: Checkpoint | undefined };
}

/** Adds a commit whose content is stored. */
function addPlanned(
  chain: WriteChain,
  { file, bytes, format, planned, content, made, signed = {} }: Addition,
): Parameters<CallRecorder['add']>[0][number] & { row: ContextRow; pieces: PlacedPiece[] } {
  const parent = findParent(chain, planned, made);
  const { no, ref, counts, calls } = content;
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
    checkpoint: (planned.type === 'delta' ? signed.checkpoint : undefined) ?? planned.checkpoint,
    summary: planned.summary,
    messageCount: planned.type === 'compaction' ? 0 : counts.messages,
    tokenCount: counts.tokens,
    errors: counts.errors,
    entries: counts.entries,
    forked: false,
    // A turn without a time gets that of its parent or of the file's last change.
    createdAt: planned.createdAt ?? toTimestamp(parent?.createdAt ?? file.modifiedAt),
  });
  // A shorter copy of the file was imported before, from here or from elsewhere.
  const isGrowth = planned.parent !== null && 'record' in planned.parent;
  if (isGrowth) noteGrowth(chain, row);
  else if (parent && parent.run !== row.run) notePartsAt(chain, row, parent);
  if (planned.startedBy)
    chain.db.run('INSERT OR IGNORE INTO started (context, project, toolCallId) VALUES (?, ?, ?)', [
      row.seq,
      chain.project,
      'toolCallId' in planned.startedBy ? planned.startedBy.toolCallId : startOf(planned.startedBy.sessionId),
    ]);
  return {
    row,
    pieces: piecesIn(no, contiguous(planned.ranges)),
    calls:
      planned.type === 'delta' && calls && !(isGrowth && goesOnWithTurn(chain, row))
        ? calls
        : callsOfDelta({
            format,
            type: planned.type,
            bytes: () => readDelta(bytes, planned),
            entries: () => planned.entries,
            before: contentBefore(chain, row),
          }),
  };
}

/** Branches can part within a turn. The first child of a commit is in its run, and every other child begins a run. */
function notePartsAt(chain: WriteChain, row: ContextRow, { run, depth }: ContextRow): void {
  const first = chain.db.value<CommitSeq>('SELECT seq FROM commits WHERE run = ? AND depth = ?', run, depth + 1);
  if (first !== undefined) noteGrowth(chain, commitAt(chain, first));
  noteGrowth(chain, row);
}

function findParent(chain: WriteChain, { parent }: Pick<StorableCommit, 'parent'>, made: MadeCommits): ContextRow | null {
  if (parent === null) return null;
  return 'plan' in parent ? made.at(parent.plan) : (commitEndingAt(chain, parent) ?? null);
}
