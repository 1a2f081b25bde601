import type { Agent, AgentTurn, Received } from '../../../core/contract/index.js';

/** A handover of the map: the turn that it started. */
export type MapTurn = AgentTurn & { readonly cards: number; readonly instruction?: string | undefined; readonly received?: Received | undefined };

/** A column of the map: an agent, or another source of handovers such as the user. */
export interface MapColumn {
  readonly agentId: string;
  readonly name: string;
  readonly agent: Agent | undefined;
  /** Distinguishes columns with the same name: Writer 2. */
  readonly number: number | undefined;
}

/** The columns in order of first appearance, so most arrows point right. */
export function arrangeColumns(agents: readonly Agent[], turns: readonly MapTurn[]): MapColumn[] {
  const known = new Map(agents.map((agent) => [agent.agentId, agent]));
  const ids = [...new Set([...turns.flatMap((turn) => [turn.sourceAgentId, turn.agentId]), ...known.keys()])].filter((id) => id !== undefined);
  const names = ids.map((id) => known.get(id)?.displayName ?? id);
  return ids.map((agentId, place) => {
    const name = names[place] ?? agentId;
    const same = names.filter((one) => one === name).length;
    const number = same > 1 ? names.slice(0, place + 1).filter((one) => one === name).length : undefined;
    return { agentId, name, agent: known.get(agentId), number };
  });
}

/** A row of the map. Numbers are places of columns. */
export interface Arrow {
  readonly turn: MapTurn;
  readonly from: number;
  readonly to: number;
  /** "2 of 3" for a handover that is part of a batch. */
  readonly part: string | undefined;
}

/** One arrow per handover, oldest first. */
export function arrowsOf(columns: readonly MapColumn[], turns: readonly MapTurn[]): Arrow[] {
  const places = new Map(columns.map((column, place) => [column.agentId, place]));
  const batches = Map.groupBy(turns, (turn) => turn.batchId);
  return turns.map((turn) => {
    const to = places.get(turn.agentId) ?? 0;
    const batchSize = turn.batchId === undefined ? 0 : (batches.get(turn.batchId)?.length ?? 0);
    return {
      turn,
      from: turn.sourceAgentId === undefined ? to : (places.get(turn.sourceAgentId) ?? to),
      to,
      part: batchSize > 1 && turn.taskIndex !== undefined ? `${turn.taskIndex + 1} of ${batchSize}` : undefined,
    };
  });
}

/** The kind of a handover as a verb. */
export const toolNames: Readonly<Record<string, string>> = {
  delegate_async: 'delegated',
  fork_join: 'forked',
  launch_principal: 'launched',
  ask_expert: 'asked',
};
