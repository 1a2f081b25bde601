import { type ContextId, canonicalJson, type Json } from '../base/index.js';
import { type Chain, commitOf, commonAncestor, contextEntries } from '../chain/index.js';
import type { Hunk, Stop } from '../contract/index.js';
import { type Alignable, align } from '../diff/index.js';
import type { ParsedEntry } from '../formats/index.js';

export interface ContextDiff {
  /** The last commit that both stand on; null where they share none. */
  readonly base: ContextId | null;
  readonly same: number;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly tokens: { readonly a: number; readonly b: number };
  readonly hunks: Hunk[];
}

/** What the model saw in one context against what it saw in another, entry by entry. */
export function compareContexts(chain: Chain, input: { a: ContextId; b: ContextId; stop?: Stop | undefined }): ContextDiff {
  const [a, b] = [entriesOf(chain, input.a, input.stop), entriesOf(chain, input.b, input.stop)];
  const hunks = align(a.map(alignable), b.map(alignable));
  const counted = (op: Hunk['op'], side: 'aCount' | 'bCount'): number => hunks.reduce((sum, hunk) => sum + (hunk.op === op ? hunk[side] : 0), 0);
  return {
    base: commonAncestor(chain, commitOf(chain, input.a, 'a'), commitOf(chain, input.b, 'b'))?.id ?? null,
    same: counted('same', 'aCount'),
    added: counted('added', 'bCount'),
    removed: counted('removed', 'aCount'),
    changed: counted('changed', 'aCount'),
    tokens: { a: tokensOf(a), b: tokensOf(b) },
    hunks,
  };
}

const entriesOf = (chain: Chain, id: ContextId, stop: Stop | undefined): ParsedEntry[] =>
  contextEntries(chain, { id, stop }).map(({ entry }) => entry);
const tokensOf = (entries: readonly ParsedEntry[]): number => entries.reduce((sum, entry) => sum + entry.tokens, 0);

const alignable = (entry: ParsedEntry): Alignable => ({
  key: entry.key,
  content: `${entry.role} ${entry.kind} ${entry.toolName ?? ''} ${entry.text ?? ''} ${entry.arguments === undefined ? '' : canonicalJson(entry.arguments as Json)}`,
  likeness: `${entry.role} ${entry.kind} ${entry.toolName ?? ''}`,
});
