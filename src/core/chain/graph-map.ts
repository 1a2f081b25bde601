import type { CommitSeq } from '../base/index.js';
import { type GraphMap, graphMarks, type InputOf } from '../contract/index.js';
import type { ReadChain } from './chain.js';
import { layoutOf, titlesOf } from './graph.js';
import type { LaneRow } from './lanes.js';
import { turnParts } from './turn-parts.js';

interface Row {
  readonly seq: CommitSeq;
  readonly parent: CommitSeq | null;
  readonly type: string;
  readonly contextTokens: number;
  readonly errors: number;
  readonly forked: number;
}

/** A short form of every row, in the order of `graph`. With it the window can fold, filter and draw a graph of any length. */
export function graphMap(chain: ReadChain, { filter = {}, together = false, text = '' }: InputOf<'context.graphMap'>): GraphMap {
  const layout = layoutOf(chain, filter, together);
  const all = chain.db.all<Row>('SELECT seq, parent, type, contextTokens, errors, forked FROM context WHERE project = ?', chain.project);
  const rows = new Map(all.map((row) => [row.seq, row] as const));
  const children = new Map<CommitSeq, number>();
  for (const { parent } of all) if (parent !== null) children.set(parent, (children.get(parent) ?? 0) + 1);
  const started = new Set(
    chain.db.all<{ context: CommitSeq }>('SELECT context FROM started WHERE project = ?', chain.project).map(({ context }) => context),
  );
  const drawn = layout.rows(0, layout.total);
  const marks = drawn.map(({ seq, edges }) => {
    const { type = '', errors = 0, forked = 0 } = rows.get(seq) ?? {};
    const isEnd = (children.get(seq) ?? 0) === 0;
    const isPlain =
      type === 'delta' &&
      children.get(seq) === 1 &&
      !forked &&
      !started.has(seq) &&
      errors === 0 &&
      edges.every((edge) => edge.fromLane === edge.toLane);
    return (
      (type === 'compaction' ? graphMarks.compaction : 0) |
      (errors > 0 ? graphMarks.errors : 0) |
      (isEnd || forked ? graphMarks.end : 0) |
      (isPlain ? graphMarks.plain : 0)
    );
  });
  const map = { total: layout.total, lanes: drawn.map(({ lane }) => lane), tokens: drawn.map(({ seq }) => rows.get(seq)?.contextTokens ?? 0), marks };
  if (text === '') return map;
  const found = matching(
    chain,
    text.toLowerCase(),
    drawn.filter(({ seq }) => !children.has(seq)),
  );
  return { ...map, places: drawn.flatMap(({ seq }, place) => (found.has(seq) ? [place] : [])) };
}

/** The commits whose title, branch name, id, template, principal, type or tags contain the text. */
function matching(chain: ReadChain, needle: string, ends: readonly LaneRow[]): ReadonlySet<CommitSeq> {
  const found = chain.db.all<{ seq: CommitSeq }>(
    `SELECT seq FROM context WHERE project = ?
        AND instr(lower(IFNULL(summary, '') || char(10) || id || char(10) || template || char(10) || IFNULL(principal, '') || char(10) || type
          || char(10) || IFNULL(tags, '')), ?) > 0`,
    chain.project,
    needle,
  );
  const titled = [...titlesOf(chain, ends, turnParts(chain))].flatMap(([seq, title]) => (title?.toLowerCase().includes(needle) ? [{ seq }] : []));
  return new Set([...found, ...titled].map(({ seq }) => seq));
}
