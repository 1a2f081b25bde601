import {
  type ArtifactNo,
  type ArtifactRef,
  badRequest,
  type CommitSeq,
  type ContextId,
  inWords,
  StemmaError,
  type Timestamp,
} from '../base/index.js';
import type { Commit, CommitType, InputOf } from '../contract/index.js';
import { countsOfParsed, type Format, findFormat, findReader, formats, type OutlineCounts, outlined } from '../formats/index.js';
import { type ContextRow, type ReadChain, toCommit, type WriteChain } from './chain.js';
import { digestCommit } from './digest.js';
import { commitAt, findParent, type Parent } from './find.js';
import { saveOutline } from './outline.js';
import { otherSessionOf, principalTaken } from './principals.js';

export type CheckpointInput = InputOf<'context.checkpoint'>;

/** The metadata of a commit. */
type Provenance = Pick<
  CheckpointInput,
  'template' | 'principal' | 'machine' | 'sessionId' | 'checkpoint' | 'ticketId' | 'threadId' | 'summary' | 'tags'
>;

/**
 * Makes a commit of stored content, or stores the content in the same transaction. The same parent, content, time and template return the existing
 * commit (C1). An unknown format needs both counts, because Stemma cannot count its messages.
 * @throws CONFLICT if another session has the principal; BAD_REQUEST if the content does not parse as its format or contradicts the given counts (C21); NOT_FOUND for an
 * unknown parent or artifact.
 */
export function checkpoint(chain: WriteChain, input: CheckpointInput): Commit {
  const isCounted = input.messageCount !== undefined && input.tokenCount !== undefined;
  const format = isCounted ? findReader(input.format) : readableFormat(input.format);
  const given = [input.artifactRef, input.data, input.text].filter((each) => each !== undefined).length;
  if (given !== 1) throw badRequest('artifactRef', `Give exactly one of artifactRef, data and text; ${given} were given.`);
  const bytes = input.data !== undefined ? Buffer.from(input.data, 'base64') : input.text !== undefined ? Buffer.from(input.text) : undefined;
  // Content is parsed and counted before the write transaction, so that other writers do not wait.
  const counted = bytes && readContent(input, () => bytes, isCounted);
  return chain.artifacts.transaction(() => {
    const parent = input.parent === null ? null : findParent(chain, input.parent);
    refuseTakenPrincipal(chain, input, parent);
    const { no: artifact, ref } = bytes ? chain.artifacts.put(bytes, { contentType: format.contentType }) : stored(chain, input.artifactRef ?? '');
    const { counts, outline } = counted ?? readContent(input, () => chain.artifacts.read(artifact), isCounted);
    if (outline) saveOutline(chain, { artifact, format: input.format }, outline);
    const row = addCommit(chain, {
      ...input,
      parent,
      artifact,
      ref,
      ...commitCounts(input.type, { ...counts, messages: input.messageCount ?? counts.messages, tokens: input.tokenCount ?? counts.tokens }),
      forked: false,
    });
    return toCommit(row);
  });
}

function refuseTakenPrincipal(chain: ReadChain, { principal, sessionId }: CheckpointInput, parent: Parent | null): void {
  if (principal === undefined || sessionId === undefined) return;
  const other = otherSessionOf(chain, { principal, sessionId, parent: parent?.seq ?? null });
  if (other !== undefined) throw principalTaken(principal, other);
}

/** @throws BAD_REQUEST for a format that Stemma does not read, saying how its content can be stored. */
function readableFormat(id: string): Format {
  const format = findFormat(id);
  if (format) return format;
  const known = formats.map((each) => each.id).join(', ');
  throw badRequest(
    'format',
    `Stemma does not read the format ${inWords(id)}, so it cannot count its messages. Give messageCount and tokenCount to store the content as it is, ` +
      `or use one of the formats that it reads: ${known}.`,
    { value: id },
  );
}

function stored(chain: WriteChain, name: string): { readonly no: ArtifactNo; readonly ref: ArtifactRef } {
  const no = chain.artifacts.find(name);
  chain.artifacts.keep(no);
  return { no, ref: chain.artifacts.stat(no).ref };
}

/**
 * Parses and counts the content. Content of an unknown format is not read. The outline is there if counting built one: a missing one is built at the
 * first read.
 */
function readContent(input: CheckpointInput, read: () => Uint8Array, isCounted: boolean) {
  const format = findFormat(input.format);
  if (!format) return { counts: { messages: 0, tokens: 0, errors: 0, entries: 0 } };
  const content = read();
  const parsed = format.parse(content);
  const [problem] = parsed.problems;
  if (problem)
    throw badRequest(contentField(input), `The content is not valid ${input.format}: line ${problem.line}: ${problem.reason}`, {
      line: problem.line,
    });
  const { counts, data } = isCounted ? { counts: countsOfParsed(parsed), data: undefined } : outlined(parsed);
  refuseOtherCounts(input, counts, content.length);
  return { counts, outline: data };
}

const contentField = ({ data, text }: CheckpointInput): string => (data !== undefined ? 'data' : text !== undefined ? 'text' : 'artifactRef');

/** Message counts must be exact. Token counts may come from another tokenizer, so only impossible ones are refused. */
function refuseOtherCounts({ type, messageCount, tokenCount }: CheckpointInput, counts: OutlineCounts, size: number): void {
  const { messages, tokens } = counts;
  if (messageCount !== undefined && messageCount !== messages && !(type === 'compaction' && messageCount === 0))
    throw badRequest(
      'messageCount',
      `messageCount is ${messageCount}, but the content has ${messages} messages. Leave it out to have them counted.`,
      { counted: messages },
    );
  if (tokenCount !== undefined && (tokenCount > Math.max(size, tokens) || (tokenCount === 0 && tokens > 0)))
    throw badRequest('tokenCount', `tokenCount is ${tokenCount}, but the content has ${size} bytes and about ${tokens} tokens.`, { counted: tokens });
}

/** A commit to write. Callers have checked it; only the database's own constraints still apply. */
export interface NewCommit extends Provenance {
  readonly parent: Parent | null;
  readonly type: CommitType;
  readonly artifact: ArtifactNo;
  readonly ref: ArtifactRef;
  readonly format: string;
  readonly messageCount: number;
  readonly tokenCount: number;
  readonly errors: number;
  readonly entries: number;
  readonly forked: boolean;
  readonly createdAt?: Timestamp | undefined;
}

/** The counts of a commit by those of its content. C9: a compaction adds no messages, only the tokens of its summary. */
export const commitCounts = (type: CommitType, { messages, tokens, errors, entries }: OutlineCounts) => ({
  messageCount: type === 'compaction' ? 0 : messages,
  tokenCount: tokens,
  errors,
  entries,
});

/** Writes one commit. Call it inside the transaction that stores the artifact. */
export function addCommit(chain: WriteChain, commit: NewCommit): ContextRow {
  const { parent } = commit;
  // C12: the clock may have been set back after the parent was made.
  const createdAt = commit.createdAt ? Date.parse(commit.createdAt) : Math.max(chain.clock(), parent?.createdAt ?? 0);
  const digest = digestCommit({ parent: parent?.id ?? null, ref: commit.ref, createdAt, template: commit.template });
  const named = nameFor(chain, digest);
  if (named.known) return commitAt(chain, named.known);
  const place = placeInRun(chain, parent);
  const contextTokens = commit.type === 'delta' ? (parent?.contextTokens ?? 0) + commit.tokenCount : commit.tokenCount;
  const row = {
    project: chain.project,
    id: named.id,
    digest,
    parent: parent?.seq ?? null,
    run: place.run,
    depth: place.depth,
    type: commit.type,
    artifact: commit.artifact,
    format: commit.format,
    template: commit.template,
    principal: commit.principal ?? null,
    machine: commit.machine ?? null,
    sessionId: commit.sessionId ?? null,
    checkpoint: commit.checkpoint,
    ticketId: commit.ticketId ?? null,
    threadId: commit.threadId ?? null,
    summary: commit.summary ?? null,
    tags: commit.tags?.length ? JSON.stringify(commit.tags) : null,
    messageCount: commit.messageCount,
    tokenCount: commit.tokenCount,
    contextTokens,
    errors: commit.errors,
    entries: commit.entries,
    forked: commit.forked ? 1 : 0,
    createdAt,
  };
  const { rowId } = chain.db.insert('commits', row);
  return { ...row, intact: 1, seq: rowId as CommitSeq, parentId: parent?.id ?? null, hash: Buffer.from(commit.ref.slice('blake3:'.length), 'hex') };
}

const minIdLength = 8;

/** C1: `ctx-` and eight digits of the digest, more if another commit has the same prefix. */
function nameFor(chain: ReadChain, digest: Buffer): { readonly id: ContextId; readonly known?: CommitSeq } {
  const hex = digest.toString('hex');
  const first = hex.slice(0, minIdLength);
  const sql = 'SELECT seq, id, digest FROM commits WHERE project = ? AND id >= ? AND id < ?';
  const near = chain.db.all<Pick<ContextRow, 'seq' | 'id' | 'digest'>>(sql, chain.project, `ctx-${first}`, `ctx-${first}g`);
  const same = near.find((row) => row.digest.equals(digest));
  if (same) return { id: same.id, known: same.seq };
  const taken = new Set<string>(near.map((row) => row.id));
  for (let digits = minIdLength; digits <= hex.length; digits++) {
    const id = `ctx-${hex.slice(0, digits)}` as ContextId;
    if (!taken.has(id)) return { id };
  }
  throw new StemmaError('CONFLICT', `Two commits have the digest ${hex}.`, { digest: hex });
}

/** The first child continues its parent's first-parent run. Every other child starts a new run. */
function placeInRun(chain: WriteChain, parent: NewCommit['parent']): { readonly run: number; readonly depth: number } {
  if (!parent) return { run: newRun(chain, null), depth: 0 };
  const depth = parent.depth + 1;
  const isContinued =
    parent.isContinued ?? (chain.db.one('SELECT 1 FROM commits WHERE run = ? AND depth = ?', parent.run, depth) === undefined ? 0 : 1);
  return { run: isContinued ? newRun(chain, parent.seq) : parent.run, depth };
}

const newRun = (chain: WriteChain, origin: CommitSeq | null): number =>
  chain.db.run('INSERT INTO firstParentRun (project, origin) VALUES (?, ?)', chain.project, origin).rowId;
