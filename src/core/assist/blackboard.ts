import { badRequest, type CommitSeq, type ContextId, inWords, toTimestamp } from '../base/index.js';
import { findCommit, type ReadChain, type WriteChain } from '../chain/index.js';
import { checkState, type State, savedBlocks, stateFields } from '../composer/index.js';
import type { InputOf, OutputOf } from '../contract/index.js';

type SavedState = OutputOf<'compose.saveState'>;

/** Saves the shared state of a run with a commit; with `reproducible`, its blocks too. @throws BAD_REQUEST for an invalid state. */
export function saveState(chain: WriteChain, { id, state, contexts, reproducible = false }: InputOf<'compose.saveState'>): SavedState {
  checkState(state);
  const keys = Object.keys(contexts ?? {});
  if (keys.length && !reproducible)
    throw badRequest('contexts', 'Blocks are made for each call. Set reproducible to true to save them with the state.', { value: keys[0] });
  const other = keys.find((key) => !savedBlocks.includes(key));
  if (other !== undefined)
    throw badRequest(`contexts.${other}`, `The block ${inWords(other)} cannot be saved. These can: ${savedBlocks.join(', ')}.`, { value: other });
  return chain.db.transaction(() => {
    const { seq } = findCommit(chain, id);
    const blocks = reproducible ? JSON.stringify(contexts ?? {}) : null;
    chain.db.insert('blackboard', { project: chain.project, context: seq, at: chain.clock(), state: JSON.stringify(state), contexts: blocks });
    return restoreState(chain, { id, reproducible });
  });
}

/** The state saved last with a commit or its nearest ancestor. @throws BAD_REQUEST for an unknown field; NOT_FOUND for an unknown commit. */
export function restoreState(chain: ReadChain, { id, keys, reproducible = false }: InputOf<'compose.restoreState'>): SavedState {
  const unknown = keys?.find((key) => !stateFields.includes(key));
  if (unknown !== undefined)
    throw badRequest('keys', `The state has no field ${inWords(unknown)}. Its fields are ${stateFields.join(', ')}.`, { value: unknown });
  const row = nearest(chain, findCommit(chain, id).seq);
  if (!row) return { from: null, at: null, state: {}, contexts: {} };
  const state = JSON.parse(row.state) as State;
  return {
    from: row.id,
    at: toTimestamp(row.at),
    state: keys ? Object.fromEntries(Object.entries(state).filter(([key]) => keys.includes(key))) : state,
    contexts: reproducible && row.contexts !== null ? (JSON.parse(row.contexts) as Record<string, string>) : {},
  };
}

interface Row {
  readonly id: ContextId;
  readonly at: number;
  readonly state: string;
  readonly contexts: string | null;
}

const nearest = (chain: ReadChain, seq: CommitSeq): Row | undefined =>
  chain.db.one<Row>(
    `WITH RECURSIVE up(seq, parent, depth, far) AS (
       SELECT seq, parent, depth, 0 FROM commits WHERE seq = ?
       UNION ALL SELECT c.seq, c.parent, c.depth, far + 1 FROM up JOIN commits c ON c.seq = up.parent AND c.depth < up.depth)
     SELECT c.id, b.at, b.state, b.contexts FROM up CROSS JOIN blackboard b ON b.context = up.seq JOIN commits c ON c.seq = up.seq
      WHERE b.project = ? ORDER BY up.far, b.no DESC LIMIT 1`,
    [seq, chain.project],
  );
