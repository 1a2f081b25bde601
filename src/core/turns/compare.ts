import { type ContextId, canonicalJson, type Json } from '../base/index.js';
import { type Chain, commitOf, commonAncestor, contextEntries } from '../chain/index.js';
import type { Hunk, Stop, Turn } from '../contract/index.js';
import { type Alignable, align } from '../diff/index.js';
import type { ParsedEntry } from '../formats/index.js';
import { turnOf } from './turns.js';

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

/** Two turns side by side: what their models saw and said, and what it took. */
export function compareTurns(chain: Chain, a: ContextId, b: ContextId): TurnComparison {
  const { base, same, added, removed, changed, hunks } = compareContexts(chain, { a, b });
  return { base, same, added, removed, changed, hunks, a: sideOf(chain, a), b: sideOf(chain, b) };
}

export interface TurnSide {
  readonly turnId: ContextId;
  readonly model: string | null;
  readonly tokens: number;
  readonly usage: Turn['usage'];
  readonly cost: number | null;
  /** From the first to the last time that was written down; null where none was. */
  readonly ms: number | null;
}

export type TurnComparison = Omit<ContextDiff, 'tokens'> & { readonly a: TurnSide; readonly b: TurnSide };

function sideOf(chain: Chain, id: ContextId): TurnSide {
  const { turnId, model, tokens, usage, cost, startedAt, endedAt } = turnOf(chain, id);
  return { turnId, model, tokens, usage, cost, ms: startedAt && endedAt ? Date.parse(endedAt) - Date.parse(startedAt) : null };
}
