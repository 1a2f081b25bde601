// The size of a context that no call has seen: a fork, a rerun or a snapshot. It starts from what was counted before, and only the rest is estimated.
import type { CommitSeq, EntryKey } from '../base/index.js';
import { type ContextRow, commitAt, newestFirst, outlineRows, type ReadChain, readOutline, walk } from '../chain/index.js';
import type { OutlineRow, PartKind } from '../contract/index.js';
import { sentSize } from '../requests/index.js';
import { type CallRow, callsIn } from './rows.js';
import { partKindOf } from './window.js';

/** A context after an edit. */
export interface Continued {
  /** The last call before the edit. */
  readonly call: CallRow;
  /** The counted input of that call, with its reply. */
  readonly counted: number;
  /** The tokens by kind that were added since: the reply, what followed it, and the edits. Negative for what an edit removed. */
  readonly changes: ReadonlyMap<PartKind, number>;
  /** The tokens of the edits and of everything else that no call has seen. */
  readonly edited: number;
}

type Row = Pick<OutlineRow, 'key' | 'role' | 'kind' | 'tokens'>;

/** What is known of a context that no call has seen; undefined if no call before the edit was counted, or if a compaction replaced what it had seen. */
export function continuedFrom(chain: ReadChain, tip: ContextRow): Continued | undefined {
  const steps = walk(chain, tip).contributing;
  const found = lastCallIn(chain, tip);
  if (!found) return undefined;
  const { call, place, made } = found;
  // A call in an ancestor saw everything before it as it is. A copy of a call is in a commit that an edit made, so both contexts are compared.
  const at = steps.findIndex(({ seq }) => seq === made);
  if (place === made && at >= 0) {
    const rows = steps.slice(at).flatMap((step) => visible(readOutline(chain, step).entries));
    return changesSince(call, [], [], rows.slice(findPosition(rows, call)));
  }
  return comparedWith(chain, call, made, visible(outlineRows(chain, { id: tip.id }).rows));
}

/** The same for entries that are not stored yet: those of a context with an edit. `of` is the commit whose context is edited. */
export function continuedWith(chain: ReadChain, of: ContextRow, entries: readonly Row[]): Continued | undefined {
  const keys = new Set(entries.map(({ key }) => key));
  const found = lastCallIn(chain, of, keys);
  return found && comparedWith(chain, found.call, found.made, entries);
}

const visible = <One extends { readonly hidden?: boolean | undefined }>(rows: readonly One[]): One[] => rows.filter(({ hidden }) => !hidden);
const findPosition = (rows: readonly Row[], { key }: CallRow): number => {
  const place = rows.findIndex((row) => row.key === key);
  return Math.max(0, place);
};

/**
 * The last counted call of a context, of those with these replies; the commit of the context that holds its reply, and the commit in which it was made. A
 * snapshot has the calls of what it copies.
 */
function lastCallIn(
  chain: ReadChain,
  tip: ContextRow,
  keys?: ReadonlySet<EntryKey>,
): { readonly call: CallRow; readonly place: CommitSeq; readonly made: CommitSeq } | undefined {
  for (const step of newestFirst(chain, tip)) {
    const row = commitAt(chain, step.seq);
    if (row.type === 'compaction') return undefined;
    if (row.type === 'snapshot') return row.parent === null ? undefined : lastCallIn(chain, commitAt(chain, row.parent), keys);
    const call = callsIn(chain, [row.seq]).findLast((one) => sentSize(one) !== null && (keys?.has(one.key) ?? true));
    if (call) {
      const made = chain.db.value<CommitSeq>('SELECT context FROM usageCall WHERE no = ?', call.no) ?? row.seq;
      return { call, place: row.seq, made };
    }
  }
  return undefined;
}

function comparedWith(chain: ReadChain, call: CallRow, made: CommitSeq, entries: readonly Row[]): Continued {
  const seen = visible(outlineRows(chain, { id: commitAt(chain, made).id }).rows);
  const sent = seen.slice(0, findPosition(seen, call));
  const keys = new Set(entries.map(({ key }) => key));
  const old = new Set(sent.map(({ key }) => key));
  const cut = findPosition(entries, call);
  const removed = sent.filter(({ key }) => !keys.has(key));
  const added = entries.slice(0, cut).filter(({ key }) => !old.has(key));
  return changesSince(call, removed, added, entries.slice(cut));
}

/** Sums the entries that were removed and added before a call, and those from its reply on. */
function changesSince(call: CallRow, removed: readonly Row[], added: readonly Row[], rest: readonly Row[]): Continued {
  const changes = new Map<PartKind, number>();
  const add = (row: Row, tokens: number): number => {
    const kind = partKindOf(row);
    changes.set(kind, (changes.get(kind) ?? 0) + tokens);
    return tokens;
  };
  const end = rest.findIndex(({ role }) => role !== 'assistant');
  const reply = end < 0 ? rest : rest.slice(0, end);
  const size = reply.reduce((sum, { tokens }) => sum + tokens, 0);
  // What the provider counted as output, divided among the entries of the reply.
  const output = call.output ?? size;
  for (const row of reply) add(row, size > 0 ? (output * row.tokens) / size : output / reply.length);
  let edited = 0;
  for (const row of removed) edited += add(row, -row.tokens);
  for (const row of [...added, ...rest.slice(reply.length)]) edited += add(row, row.tokens);
  return { call, counted: (sentSize(call) ?? 0) + (reply.length > 0 ? output : 0), changes, edited };
}
