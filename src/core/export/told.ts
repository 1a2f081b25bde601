import type { CommitSeq, ContextId } from '../base/index.js';
import { type Chain, type ContextRow, childrenOf, commitAt, entriesInTurn, lineage, outlineOf, type Walk } from '../chain/index.js';
import type { CommitType } from '../contract/index.js';
import type { ParsedEntry } from '../formats/index.js';

/** One commit as a document tells of it. */
export interface ToldStep {
  readonly id: ContextId;
  readonly type: CommitType;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What it adds, what the runtime recorded and never sent among it; of a compaction, what it put in place of what came before. */
  readonly entries: readonly ParsedEntry[];
  /** It stands for what was told before it, and adds nothing. */
  readonly repeats: boolean;
  /** Of a compaction: approximate tokens of the context before and after it. */
  readonly tokens?: { readonly before: number; readonly after: number };
  /** Other commits that go on from here. */
  readonly branches: readonly { readonly id: ContextId; readonly head: string }[];
}

/** A context as a document tells it. */
export interface Told {
  readonly id: ContextId;
  readonly title: string;
  readonly template: string;
  readonly principal: string | null;
  readonly stop: Walk['stop'];
  /** From the first commit to the last, each read when it is asked for. */
  steps(): Iterable<ToldStep>;
}

/** A whole history is told with its compactions in their places: what they put in place of the rest is in the steps that `repeats`. */
export function tell(chain: Chain, way: Walk): Told {
  const { tip, stop } = way;
  const steps = stop === 'root' ? lineage(chain, tip).filter(({ type, parent }) => type !== 'snapshot' || parent === null) : way.contributing;
  const said = new Set(way.contributing.map(({ seq }) => seq));
  return {
    id: tip.id,
    title: titleOf(chain, tip),
    template: tip.template,
    principal: tip.principal,
    stop,
    *steps() {
      const branching = branchingOf(
        chain,
        steps.map(({ seq }) => seq),
      );
      const path = new Set(steps.map(({ seq }) => seq));
      for (const { step, entries } of entriesInTurn(chain, steps)) {
        const row = commitAt(chain, step.seq);
        const before = row.type === 'compaction' && row.parent !== null ? commitAt(chain, row.parent).contextTokens : undefined;
        yield {
          id: row.id,
          type: row.type,
          at: row.createdAt,
          entries,
          repeats: !said.has(step.seq),
          ...(before !== undefined && { tokens: { before, after: row.contextTokens } }),
          branches: branching.has(row.seq)
            ? childrenOf(chain, row).flatMap((child) => (path.has(child.seq) ? [] : [{ id: child.id, head: headOf(chain, child) }]))
            : [],
        };
      }
    },
  };
}

/** Which of these commits have more than one child. */
const branchingOf = (chain: Chain, seqs: readonly CommitSeq[]): ReadonlySet<CommitSeq> =>
  new Set(
    chain.db
      .all<{ origin: CommitSeq }>('SELECT DISTINCT origin FROM line WHERE origin IN (SELECT value FROM json_each(?))', JSON.stringify(seqs))
      .map(({ origin }) => origin),
  );

function titleOf(chain: Chain, tip: ContextRow): string {
  const named = chain.db.one<{ title: string }>(
    'SELECT title FROM source WHERE project = ? AND sessionId = ? AND title IS NOT NULL ORDER BY no DESC LIMIT 1',
    chain.project,
    tip.sessionId,
  );
  const first = lineage(chain, tip)[0];
  return named?.title ?? (first && headOf(chain, commitAt(chain, first.seq))) ?? tip.id;
}

/** What a commit begins with, in a few words. */
const headOf = (chain: Chain, row: ContextRow): string =>
  row.summary ??
  outlineOf(chain, row.artifact, row.format).entries.find(({ role, kind, hidden }) => role === 'user' && kind === 'text' && !hidden)?.head ??
  row.id;
