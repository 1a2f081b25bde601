import { type CommitSeq, toTimestamp } from '../base/index.js';
import { addCommit, type ContextRow, commitAt, type ReadChain, type WriteChain } from '../chain/index.js';
import { redactor, replacedIn, textsOf } from '../export/index.js';
import { findFormat } from '../formats/index.js';
import { rememberRecords } from './commits.js';
import { openKnown } from './known.js';

/** The name under which the project stores its copies, next to the state of its hubs. */
const copies = 'redacted copies';
const kind = 'context';

/**
 * Makes copies of commits in which secrets of known patterns, home folders and e-mail addresses are replaced by placeholders. The copies are
 * a branch of their own in this project; the originals do not change. A commit keeps the copy that an earlier push made, so that a later
 * push continues from there. `originals` are sorted, each after its parent. Returns the copies, with the commits that need none.
 */
export async function redactedCopies(chain: WriteChain, originals: readonly CommitSeq[]) {
  const known = openKnown(chain, copies);
  const copyOf = (seq: CommitSeq): CommitSeq | undefined => known.row(kind, String(seq)) as CommitSeq | undefined;
  const rest = originals.filter((seq) => copyOf(seq) === undefined);
  const redact = redactor(new Map(), { ipAddresses: false });
  // Searches all commits first: a secret that is recognized in one commit is removed from all.
  for (const seq of rest) {
    const row = commitAt(chain, seq);
    await redact.look([...textsOf(readContent(chain, row), readContentType(chain, row)), ...(row.summary === null ? [] : [{ text: row.summary }])]);
  }
  chain.artifacts.transaction(() => {
    for (const seq of rest) {
      const row = commitAt(chain, seq);
      const parent = row.parent === null ? null : (copyOf(row.parent) ?? row.parent);
      const copy = copyWith(chain, row, parent, redact);
      known.note({ kind, key: String(seq), digest: copy.digest.toString('hex') }, copy.seq);
    }
  });
  return { commits: originals.map((seq) => copyOf(seq) ?? seq), redactions: rest.length === 0 ? [] : redact.made() };
}

const readContent = ({ artifacts }: ReadChain, { artifact }: ContextRow): Uint8Array => artifacts.read(artifact);
const readContentType = ({ artifacts }: ReadChain, { artifact }: ContextRow): string => artifacts.stat(artifact).contentType;

/** Returns the commit itself if redaction changes neither it nor an ancestor. Otherwise copies it as a child of `parent`. */
function copyWith(chain: WriteChain, row: ContextRow, parent: CommitSeq | null, redact: ReturnType<typeof redactor>): ContextRow {
  const [bytes, contentType] = [readContent(chain, row), readContentType(chain, row)];
  const left = replacedIn(bytes, contentType, redact, findFormat(row.format)?.seals);
  const summary = row.summary === null ? null : redact.replace(row.summary);
  if (left === bytes && parent === row.parent && summary === row.summary) return row;
  const stored = chain.artifacts.put(left, { contentType, bulk: true });
  const { type, format, template, checkpoint, messageCount, tokenCount, errors } = row;
  const copy = addCommit(chain, {
    type,
    format,
    template,
    checkpoint,
    messageCount,
    tokenCount,
    errors,
    parent: parent === null ? null : commitAt(chain, parent),
    artifact: stored.no,
    ref: stored.ref,
    sessionId: row.sessionId === null ? undefined : `${row.sessionId}-redacted`,
    summary: summary ?? undefined,
    tags: ['redacted'],
    entries: chain.db.value<number>('SELECT entries FROM commits WHERE seq = ?', row.seq) ?? 0,
    forked: row.forked === 1,
    // Parent, content and time determine a commit's id. A copy that differs in its summary only needs another time.
    createdAt: toTimestamp(row.createdAt + (left === bytes && parent === row.parent ? 1 : 0)),
  });
  rememberRecords(chain, [copy]);
  return copy;
}
