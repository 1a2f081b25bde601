import { useMemo, useState } from 'react';
import type { Turn, TurnRequest, Wire } from '../../../core/contract/index.js';
import { api } from '../../client';
import { type ContextOutline, type RunInput, useQuery } from '../../state';
import { type Changes, noChanges, planOf } from '../fork';
import type { Unanswered } from './ProviderChoice';
import { lastProvider, type ReplySource } from './providers';
import { draftOf, type Edited, editsOf, type RequestDraft } from './request';

/** The request of a turn in the wire format of the chosen provider; undefined until it is loaded. */
function useRequestFor(turnId: string, wire: Wire | undefined): TurnRequest | undefined {
  const query = useQuery(`${turnId} request ${wire}`, (signal) => api.turn.request({ turnId: turnId as Turn['turnId'], wire }, { signal }));
  return query.status === 'done' ? query.data : undefined;
}

/** Why the request cannot run; undefined if it can. */
export function problemOfRequest(edited: Edited, provider: ReplySource | undefined, changeCount: number): string | undefined {
  if ('problem' in edited) return edited.problem;
  if (provider?.id === 'recorded' && changeCount > 0)
    return 'The recording can only repeat the original reply. Choose a model, or undo your changes.';
  return provider?.problem && `${provider.title}: ${provider.problem}.`;
}

/** The state of the form that runs a turn again: the chosen provider, and the changes to the recorded request. */
export function useRequestForm(turn: Turn, recorded: TurnRequest, providers: readonly ReplySource[], outline: ContextOutline) {
  const [provider, setProvider] = useState(() => lastProvider(providers));
  const [model, setModel] = useState('');
  const [samples, setSamples] = useState(1);
  const [unanswered, setUnanswered] = useState<Unanswered>('ask');
  const [draft, setDraft] = useState<RequestDraft>(() => draftOf(recorded));
  // The request ends with the input of the turn; the entries after it are the recorded reply.
  const cut = outline.rows.findLastIndex((row) => row.commit !== turn.turnId || turn.input.keys.includes(row.key));
  const [changes, setChanges] = useState<Changes>(() => noChanges(cut));
  const plan = useMemo(() => planOf(outline.rows, changes), [outline, changes]);
  const chosen = providers.find((each) => each.id === provider);
  const request = useRequestFor(turn.turnId, chosen?.wire) ?? recorded;
  const edited = useMemo(() => editsOf(draft, request), [draft, request]);
  const edits = 'edits' in edited ? edited.edits : undefined;
  const changeCount = plan.edits.length + Object.keys(edits ?? {}).length;
  const input: Omit<RunInput, 'turnId'> = { provider, model: model.trim() || undefined, edits: plan.edits, request: edits, samples, unanswered };
  return {
    input,
    model,
    request,
    draft,
    cut,
    changes,
    plan,
    edits,
    changeCount,
    problem: problemOfRequest(edited, chosen, changeCount),
    setProvider,
    setModel,
    setSamples,
    setUnanswered,
    setDraft,
    setChanges,
  };
}
