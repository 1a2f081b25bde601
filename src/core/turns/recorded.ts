import { canonicalJson, type Json } from '../base/index.js';
import { type ContextRow, commitAt, findChildren, type ReadChain } from '../chain/index.js';
import type { Entry } from '../contract/index.js';
import { deltaEntries } from './turns.js';

/** A recorded reply, and the commit in which it starts. */
export interface RecordedReply {
  readonly commit: ContextRow;
  readonly entries: Entry[];
}

/** The maximum distance in commits to a branch point that is searched for the same question. */
const farthest = 64;

/** The reply of another branch with the same context and the same last prompt, if one has it. Entries that an agent added are ignored. */
export function recordedReply(chain: ReadChain, base: ContextRow): RecordedReply | undefined {
  let asked: Entry[] = [];
  for (let at: ContextRow = base, steps = 0; steps < farthest; steps++) {
    asked = [...typed(chain, at), ...asked];
    if (at.type !== 'delta' || at.parent === null) return undefined;
    const parent = commitAt(chain, at.parent);
    for (const other of findChildren(chain, parent)) {
      const found = other.seq === at.seq ? undefined : replyBelow(chain, other, asked);
      if (found) return found;
    }
    at = parent;
  }
  return undefined;
}

/** Finds the reply to `asked` in a commit or its descendants, if their entries start with `asked`. */
function replyBelow(chain: ReadChain, row: ContextRow, asked: readonly Entry[]): RecordedReply | undefined {
  if (row.type !== 'delta') return undefined;
  const own = typed(chain, row);
  const shared = Math.min(own.length, asked.length);
  if (!own.slice(0, shared).every((entry, n) => isSame(entry, asked[n]))) return undefined;
  if (own.length < asked.length) return firstOf(findChildren(chain, row), (child) => replyBelow(chain, child, asked.slice(own.length)));
  const begun = replyIn(own.slice(asked.length));
  if (begun.length) return { commit: row, entries: [...begun, ...(begun.length === own.length - asked.length ? continued(chain, row) : [])] };
  return own.length > asked.length ? undefined : firstOf(findChildren(chain, row), (child) => replyAt(chain, child));
}

function replyAt(chain: ReadChain, row: ContextRow): RecordedReply | undefined {
  const own = row.type === 'delta' ? typed(chain, row) : [];
  const entries = replyIn(own);
  if (!entries.length) return undefined;
  return { commit: row, entries: [...entries, ...(entries.length === own.length ? continued(chain, row) : [])] };
}

/** The rest of a reply that spans several commits, up to the next prompt. */
const continued = (chain: ReadChain, row: ContextRow): Entry[] =>
  firstOf(findChildren(chain, row), (child) => (child.template === row.template ? replyAt(chain, child)?.entries : undefined)) ?? [];

/** Assistant entries and tool results up to the next prompt. */
function replyIn(entries: readonly Entry[]): Entry[] {
  const end = entries.findIndex((entry) => entry.role === 'user' || entry.kind === 'summary');
  const reply = entries.slice(0, end < 0 ? entries.length : end);
  return reply.some((entry) => entry.role === 'assistant') ? reply : [];
}

/** The entries of a commit, without entries that its agent added. */
const typed = (chain: ReadChain, row: ContextRow): Entry[] => deltaEntries(chain, row).filter((entry) => !entry.marks?.includes('meta'));

const isSame = (a: Entry, b: Entry | undefined): boolean => b !== undefined && comparedWords(a) === comparedWords(b);

const comparedWords = ({ role, kind, text, toolName, arguments: given }: Entry): string =>
  canonicalJson([role, kind, text?.trim() ?? '', toolName ?? '', (given ?? null) as Json]);

function firstOf<T, U>(items: readonly T[], find: (item: T) => U | undefined): U | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
