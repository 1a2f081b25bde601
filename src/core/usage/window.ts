import type { CommitSeq, EntryKey } from '../base/index.js';
import { type ContextRow, commitAt, newestFirst, type ReadChain, readOutline, readParsed } from '../chain/index.js';
import type { Kind, PartKind, Role } from '../contract/index.js';
import type { ParsedEntry } from '../formats/index.js';
import { sentSize } from '../requests/index.js';
import { type CallRow, callsIn } from './rows.js';

/** The kind of an entry's content, for bars and charts. */
export function partKindOf({ role, kind }: { readonly role: Role; readonly kind: Kind }): PartKind {
  if (kind !== 'text') return kind;
  return role === 'tool' ? 'tool_result' : role;
}

/**
 * The last call that saw the content of a context; undefined if no call did, such as after an edit or a compaction. Calls in a commit that a person
 * forked count only if nothing before their replies was changed.
 */
export function lastCallOf(chain: ReadChain, tip: ContextRow): CallRow | undefined {
  for (const step of newestFirst(chain, tip)) {
    const row = commitAt(chain, step.seq);
    if (row.type !== 'delta') return undefined;
    const calls = inOrder(chain, row, callsIn(chain, [row.seq]));
    const last = row.forked ? calls.findLast((call) => sawAll(chain, row, call)) : calls.at(-1);
    if (last) return last;
    if (row.forked && hasContent(chain, row)) return undefined;
  }
  return undefined;
}

/** The most commits without a call to skip when searching for a call. */
export const maxPassed = 64;

/** The first counted call between a compaction and the next one. */
export function callAfter(chain: ReadChain, compaction: CommitSeq): CallRow | undefined {
  let at = compaction;
  for (let passed = 0; passed < maxPassed; passed++) {
    const child = chain.db.one<{ seq: CommitSeq; type: string }>('SELECT seq, type FROM commits WHERE parent = ? ORDER BY seq LIMIT 1', at);
    if (child?.type !== 'delta') return undefined;
    const first = callsIn(chain, [child.seq])[0];
    if (first && sentSize(first) !== null) return first;
    at = child.seq;
  }
  return undefined;
}

/** The calls of a commit in the order of their replies, without replies that another commit of the context repeats. */
function inOrder(chain: ReadChain, row: ContextRow, calls: readonly CallRow[]): CallRow[] {
  if (calls.length < 2) return [...calls];
  const places = new Map(readOutline(chain, row).entries.map(({ key }, place) => [key, place] as const));
  return calls.toSorted((a, b) => (places.get(a.key) ?? 0) - (places.get(b.key) ?? 0));
}

const hasContent = (chain: ReadChain, row: ContextRow): boolean => readOutline(chain, row).entries.some(({ hidden }) => !hidden);

/** Whether everything before a reply in a forked commit is unchanged since the reply was made. */
function sawAll(chain: ReadChain, fork: ContextRow, { no, key }: CallRow): boolean {
  const origin = chain.db.value<CommitSeq>('SELECT context FROM usageCall WHERE no = ?', no);
  if (origin === undefined || origin === fork.seq) return false;
  const original = commitAt(chain, origin);
  return fork.parent === original.parent && textBefore(chain, fork, key) === textBefore(chain, original, key);
}

function textBefore(chain: ReadChain, row: ContextRow, key: EntryKey): string | undefined {
  const { entries } = readParsed(chain, row);
  const at = entries.findIndex((entry) => entry.key === key);
  return at < 0 ? undefined : JSON.stringify(entries.slice(0, at).map(({ raw: _, ...entry }: ParsedEntry) => entry));
}
