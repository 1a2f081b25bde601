import { useId, useState } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { ProblemLine, problemOf, say } from '../../parts';
import { setActor, ticketsChanged, useNavigation, useTickets } from '../../state';

/** Who writes, and from which understanding: what every write of a ticket carries. */
export interface Occasion {
  readonly by: string;
  readonly contextId?: ContextId | undefined;
}

/** Asked in every sheet that writes: as whom, and what they understood. */
export function useOccasion(): { occasion: Occasion; field: React.ReactNode } {
  const actor = useTickets((state) => state.actor);
  const commit = useNavigation(({ route }) => route.commit);
  const [given, setGiven] = useState(false);
  const id = useId();
  return {
    occasion: { by: actor, ...(given && commit && { contextId: commit }) },
    field: (
      <div className="ticket-field">
        <label htmlFor={id}>Understood then</label>
        <select id={id} className="field" value={given && commit ? 'given' : 'found'} onChange={(event) => setGiven(event.target.value === 'given')}>
          <option value="found">found by name and time: the last of {actor}</option>
          {commit && <option value="given">the selected commit, {say.shortId(commit)}</option>}
        </select>
      </div>
    ),
  };
}

/** As whom the person writes: a name of their own, or that of an agent they write for. */
export function Actor({ people }: { people: readonly string[] }) {
  const actor = useTickets((state) => state.actor);
  const list = useId();
  return (
    <label className="ticket-actor" title="What you write in tickets is signed with this name; what an agent of that name understood is found by it">
      <span className="muted">as</span>
      <input
        className="field"
        aria-label="Write as"
        list={list}
        value={actor}
        onChange={(event) => setActor(event.target.value)}
        onBlur={(event) => setActor(event.target.value.trim() || 'me')}
      />
      <datalist id={list}>
        {people.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}

/** A write that is under way, and what it was refused with: said where it was asked for. */
export function useWriting(): { busy: boolean; problem: string | undefined; write: (work: () => Promise<unknown>) => Promise<boolean> } {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  return {
    busy,
    problem,
    write: async (work) => {
      setBusy(true);
      setProblem(undefined);
      try {
        await work();
        ticketsChanged();
        return true;
      } catch (error) {
        setProblem(problemOf(error).message);
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}

export const Problem = ({ children }: { children: string | undefined }) => (children === undefined ? null : <ProblemLine>{children}</ProblemLine>);

/** Names as people type them: with commas, in any number. */
export const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
