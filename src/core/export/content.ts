import type { CommitSeq, ContextId } from '../base/index.js';
import { type ContextRow, commitAt, entriesInTurn, findChildren, lineage, type ReadChain, readOutline, type Walk } from '../chain/index.js';
import type { CommitType } from '../contract/index.js';
import type { ParsedEntry } from '../formats/index.js';
import { compactedAt, countedInput } from '../usage/index.js';

export interface DocumentStep {
  readonly id: ContextId;
  readonly type: CommitType;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The entries that it adds, with those that the runtime recorded but never sent. For a compaction, the replacement of the earlier entries. */
  readonly entries: readonly ParsedEntry[];
  /** A compaction in a full history: its entries stand for steps that the document already contains. */
  readonly repeats: boolean;
  /** For a compaction, the tokens of the context before and after it, counted by the provider or estimated. */
  readonly tokens?: { readonly before: number; readonly after: number; readonly isCounted?: boolean };
  /** The first commits of other branches that start here. */
  readonly branches: readonly { readonly id: ContextId; readonly head: string }[];
}

export interface DocumentContent {
  readonly id: ContextId;
  readonly title: string;
  readonly template: string;
  readonly principal: string | null;
  readonly stop: Walk['stop'];
  /** The input tokens of the last call, counted by its provider; null if no call has sent the context. */
  readonly counted: number | null;
  /** The commits from the first to the last. Each is read when the iteration reaches it. */
  steps(): Iterable<DocumentStep>;
}

/** Reads the content of a document. A full history (`stop: 'root'`) also has its compactions in their places, as steps with `repeats`. */
export function readContent(chain: ReadChain, way: Walk): DocumentContent {
  const { tip, stop } = way;
  const steps = stop === 'root' ? lineage(chain, tip).filter(({ type, parent }) => type !== 'snapshot' || parent === null) : way.contributing;
  const contributing = new Set(way.contributing.map(({ seq }) => seq));
  return {
    id: tip.id,
    title: contentTitle(chain, tip),
    template: tip.template,
    principal: tip.principal,
    stop,
    counted: countedInput(chain, tip.id),
    *steps() {
      const seqs = steps.map(({ seq }) => seq);
      const [branching, path] = [branchingOf(chain, seqs), new Set(seqs)];
      for (const { step, entries } of entriesInTurn(chain, steps)) {
        const row = commitAt(chain, step.seq);
        const tokens = row.type === 'compaction' && row.parent !== null ? compactedTokens(chain, row, row.parent) : undefined;
        yield {
          id: row.id,
          type: row.type,
          at: row.createdAt,
          entries,
          repeats: !contributing.has(step.seq),
          ...(tokens && { tokens }),
          branches: branching.has(row.seq)
            ? findChildren(chain, row).flatMap((child) => (path.has(child.seq) ? [] : [{ id: child.id, head: commitHeadline(chain, child) }]))
            : [],
        };
      }
    },
  };
}

/** The tokens before and after a compaction, counted by the provider. If it counted only one or none, both are estimates. */
function compactedTokens(chain: ReadChain, row: ContextRow, parent: CommitSeq): DocumentStep['tokens'] {
  const { before, after } = compactedAt(chain, row.seq);
  if (before !== undefined && after !== undefined) return { before, after, isCounted: true };
  return { before: commitAt(chain, parent).contextTokens, after: row.contextTokens };
}

const branchingOf = (chain: ReadChain, seqs: readonly CommitSeq[]): ReadonlySet<CommitSeq> =>
  new Set(
    chain.db.column<CommitSeq>('SELECT DISTINCT origin FROM firstParentRun WHERE origin IN (SELECT value FROM json_each(?))', JSON.stringify(seqs)),
  );

function contentTitle(chain: ReadChain, tip: ContextRow): string {
  const title = chain.db.value<string>(
    'SELECT title FROM source WHERE project = ? AND sessionId = ? AND title IS NOT NULL ORDER BY no DESC LIMIT 1',
    [chain.project, tip.sessionId],
  );
  const first = lineage(chain, tip)[0];
  return title ?? (first && commitHeadline(chain, commitAt(chain, first.seq))) ?? tip.id;
}

/** The summary of a commit, or else the beginning of its first prompt. */
const commitHeadline = (chain: ReadChain, row: ContextRow): string =>
  row.summary ?? readOutline(chain, row).entries.find(({ role, kind, hidden }) => role === 'user' && kind === 'text' && !hidden)?.head ?? row.id;
