import { type ComponentProps, useId, useState } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { describeProblem, Input, ProblemLine, Sheet, say, sending } from '../../parts';
import { setActor, ticketsChanged, useNavigation, useTickets } from '../../state';

/** The author of a write and, if given, the commit with the author's context. */
export interface ReviewAuthor {
  readonly by: string;
  readonly contextId?: ContextId | undefined;
}

/** The author and context for a sheet that writes, with the field in which the person chooses the context. */
export function useOccasion(): { occasion: ReviewAuthor; field: React.ReactNode } {
  const actor = useTickets((state) => state.actor);
  const commit = useNavigation(({ route }) => route.commit);
  const [given, setGiven] = useState(false);
  const id = useId();
  return {
    occasion: { by: actor, ...(given && commit && { contextId: commit }) },
    field: (
      <div className="ticket-field">
        <label htmlFor={id}>Context</label>
        <select id={id} className="field" value={given && commit ? 'given' : 'found'} onChange={(event) => setGiven(event.target.value === 'given')}>
          <option value="found">found by name and time: the latest commit of {actor}</option>
          {commit && <option value="given">the selected commit, {say.shortId(commit)}</option>}
        </select>
      </div>
    ),
  };
}

/** The name under which the person writes: their own name, or the name of an agent that they write for. */
export function Actor({ people }: { people: readonly string[] }) {
  const actor = useTickets((state) => state.actor);
  const list = useId();
  return (
    <label className="ticket-actor inline-row" title="Tickets record this name as the author. Stemma finds the author's context by it">
      <span className="muted">Write as</span>
      <Input label="Write as" list={list} value={actor} onChange={setActor} onBlur={(event) => setActor(event.target.value.trim() || 'me')} />
      <datalist id={list}>
        {people.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}

/** Runs a write, and holds its running state and the error of the last write. `write` resolves to whether it succeeded. */
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
        setProblem(describeProblem(error).message);
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}

/** The error of the last write, if any. */
export const Problem = ({ children }: { children: string | undefined }) => (children === undefined ? null : <ProblemLine>{children}</ProblemLine>);

interface WritingSheetProps extends Pick<ComponentProps<typeof Sheet>, 'title' | 'onClose' | 'children'> {
  readonly action: NonNullable<ComponentProps<typeof Sheet>['action']>;
  readonly problem: string | undefined;
}

/** A sheet that writes about tickets. Enter in a field carries out its action. */
export function WritingSheet({ title, onClose, action, problem, children }: WritingSheetProps) {
  return (
    <Sheet title={title} onClose={onClose} action={action}>
      <form className="ticket-form" onSubmit={sending(() => !action.disabled && action.run())}>
        {children}
        <Problem>{problem}</Problem>
        <button type="submit" hidden />
      </form>
    </Sheet>
  );
}

/** Splits names that are separated by commas. */
export const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
