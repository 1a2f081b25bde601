import { type ComponentProps, type ReactNode, useId, useState } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { Input, notifyProblem, Select, Sheet, say, sending, TaskProblem, TextArea } from '../../parts';
import { setActor, ticketsChanged, useNavigation, useTask, useTickets } from '../../state';

interface TicketFieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly children: (control: Pick<ComponentProps<'input'>, 'id' | 'aria-describedby'>) => ReactNode;
}

/** A field with its label above and a hint below. */
export function TicketField({ label, hint, children }: TicketFieldProps) {
  const id = useId();
  const described = hint && `${id}-hint`;
  return (
    <div className="ticket-field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': described })}
      {hint && (
        <p id={described} className="muted small">
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps extends Pick<ComponentProps<typeof Input>, 'value' | 'onChange' | 'suggestions' | 'placeholder' | 'className'> {
  readonly label: string;
  readonly hint?: string | undefined;
  /** The number of lines of a text area. */
  readonly lines?: number | undefined;
}

/** A field for text, with its label and its hint. */
export const TextField = ({ label, hint, lines, suggestions, ...field }: TextFieldProps) => (
  <TicketField label={label} hint={hint}>
    {(control) => (lines ? <TextArea rows={lines} {...control} {...field} /> : <Input suggestions={suggestions} {...control} {...field} />)}
  </TicketField>
);

/** The author of a write and, if given, the commit with the author's context, with the field in which the person chooses the context. */
export function useOccasion(): { occasion: { readonly by: string; readonly contextId?: ContextId }; field: ReactNode } {
  const actor = useTickets((state) => state.actor);
  const commit = useNavigation(({ route }) => route.commit);
  const [given, setGiven] = useState(false);
  const options = [
    ['found', `found by name and time: the latest commit of ${actor}`] as const,
    ...(commit ? [['given', `the selected commit, ${say.shortId(commit)}`] as const] : []),
  ];
  return {
    occasion: { by: actor, ...(given && commit && { contextId: commit }) },
    field: (
      <TicketField label="Context">
        {({ id }) => (
          <Select id={id} value={given && commit ? 'given' : 'found'} options={options} onChange={(value) => setGiven(value === 'given')} />
        )}
      </TicketField>
    ),
  };
}

/** The name under which the person writes: their own name, or the name of an agent that they write for. */
export function Actor({ people }: { people: readonly string[] }) {
  const actor = useTickets((state) => state.actor);
  return (
    <label className="ticket-actor inline-row" title="Tickets record this name as the author. Stemma finds the author's context by it">
      <span className="muted">Write as</span>
      <Input
        label="Write as"
        suggestions={people}
        value={actor}
        onChange={setActor}
        onBlur={(event) => setActor(event.target.value.trim() || 'me')}
      />
    </label>
  );
}

/** A write about tickets, after which their lists reload. It goes on when another one starts, and then reports its failure in a notice. */
export function useWriting() {
  const [writing, start] = useTask<void>();
  const write = <T,>(work: () => Promise<T>, onDone?: (written: T) => void): Promise<void> =>
    start(async (signal) => {
      try {
        const written = await work();
        ticketsChanged();
        if (!signal.aborted) onDone?.(written);
      } catch (error) {
        if (signal.aborted) notifyProblem(error);
        throw error;
      }
    });
  return { writing, write, busy: writing.state === 'running' };
}

interface WritingSheetProps<T> extends Pick<ComponentProps<typeof Sheet>, 'title' | 'onClose' | 'children'> {
  readonly label: string;
  readonly lacks?: boolean;
  readonly work: () => Promise<T>;
  /** Called after the sheet was closed. */
  readonly onDone?: (written: T) => void;
}

/** A sheet that writes about tickets, and closes then. Enter in a field carries out its action. */
export function WritingSheet<T>({ title, label, lacks = false, work, onDone, onClose, children }: WritingSheetProps<T>) {
  const { writing, write, busy } = useWriting();
  const disabled = busy || lacks;
  const run = (): Promise<void> =>
    write(work, (written) => {
      onClose();
      onDone?.(written);
    });
  return (
    <Sheet title={title} onClose={onClose} action={{ label, disabled, onClick: () => void run() }}>
      <form className="ticket-form gap-12" onSubmit={sending(() => !disabled && run())}>
        {children}
        <TaskProblem task={writing} />
        <button type="submit" hidden />
      </form>
    </Sheet>
  );
}
