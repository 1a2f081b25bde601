import type { Entity, Run, Space } from '../../../core/contract/index.js';
import { Input, say } from '../../parts';

const maxBudget = 10_000;
const shownRuns = 50;

interface ReaderChoiceProps {
  readonly space: Space;
  readonly agents: readonly Entity[];
  readonly runs: readonly Run[];
  /** `agent ID` for the next call of an agent, `run ID` for one of its runs. */
  readonly reader: string;
  readonly onReader: (reader: string) => void;
  readonly budget: number;
  readonly onBudget: (budget: number) => void;
}

/** Chooses whose timeline is shown (the next call of an agent, or a run) and how many messages it contains. */
export function ReaderChoice({ space, agents, runs, reader, onReader, budget, onBudget }: ReaderChoiceProps) {
  const nameOf = (entityId: string) => space.members.find((member) => member.entityId === entityId)?.name;
  return (
    <header className="timeline-head row small">
      <label className="timeline-field inline-row">
        <span className="muted">Timeline of</span>
        <select className="field" value={reader} onChange={(event) => onReader(event.target.value)}>
          <optgroup label="The next call of an agent">
            {agents.map((agent) => (
              <option key={agent.entityId} value={`agent ${agent.entityId}`}>
                {agent.name}
              </option>
            ))}
          </optgroup>
          {runs.length > 0 && (
            <optgroup label="A run">
              {runs.slice(0, shownRuns).map((run) => (
                <option key={run.runId} value={`run ${run.runId}`}>
                  {nameOf(run.entityId)}, {say.when(run.invokedAt)} ({run.runId})
                </option>
              ))}
            </optgroup>
          )}
        </select>
      </label>
      <label className="timeline-field inline-row" title="How many messages the timeline contains">
        <span className="muted">Messages</span>
        <Input
          className="timeline-budget"
          type="number"
          min={1}
          max={maxBudget}
          value={budget}
          onChange={(text) => onBudget(Math.max(1, Math.min(maxBudget, Number(text) || 1)))}
        />
      </label>
    </header>
  );
}
