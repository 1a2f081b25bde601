import { Save } from 'lucide-react';
import type { ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, attempt, Button, Sheet, say } from '../../parts';
import { notify, useQuery } from '../../state';
import { layerName } from './layers';

interface SavedStateProps {
  readonly project: string;
  readonly commit: ContextId;
  readonly blocks: Readonly<Record<string, string>>;
  readonly onClose: () => void;
  readonly onUse: (contexts: Readonly<Record<string, string>>) => void;
}

/** The blocks that services compute again at each call. They can be saved so that a later call gets the same blocks. */
const savable = ['todo__context', 'knowledge__context', 'experience__context'];

/** A sheet with the shared state (the blackboard) that was saved with a commit or before it. */
export function SavedStateSheet({ project, commit, blocks, onClose, onUse }: SavedStateProps) {
  const query = useQuery(`${project} ${commit} state`, (signal) => api.compose.restoreState({ id: commit, reproducible: true }, { signal }));
  const saved = query.data;
  const contexts = Object.fromEntries(savable.flatMap((key) => (blocks[key] ? [[key, blocks[key]]] : [])));
  const save = async (): Promise<void> => {
    await api.compose.saveState({ id: commit, state: saved?.state ?? {}, contexts, reproducible: true });
    notify('Saved with this commit');
    onClose();
  };
  return (
    <Sheet
      title="Saved state"
      kind="side"
      onClose={onClose}
      footer={
        <>
          <span className="grow" />
          <Button label="Close" onClick={onClose} />
          <Button icon={Save} label="Save with this commit" disabled={saved === undefined} onClick={attempt(() => save())} />
          <Button
            look="primary"
            label="Use the saved blocks"
            disabled={saved === undefined || Object.keys(saved.contexts).length === 0}
            onClick={() => saved && onUse(saved.contexts)}
          />
        </>
      }
    >
      <p className="muted">
        Agents of a run share a state: memory, tasks and results. Saved with a commit, it can be continued from there later. The todo, knowledge and
        experience blocks are saved too, because services answer them anew at each call.
      </p>
      <Answer query={query} what="Cannot read the saved state" loading="Reading the saved state" lines={6}>
        {({ from, at, state, contexts: texts }) =>
          from === null ? (
            <p>Nothing has been saved with this commit or before it.</p>
          ) : (
            <>
              <p>
                Saved {at !== null && say.when(at)} with {from === commit ? 'this commit' : <span className="mono">{from}</span>}.
              </p>
              <Fields title="State" fields={state} />
              <Fields title="Blocks" fields={Object.fromEntries(Object.entries(texts).map(([key, text]) => [layerName(key), text]))} />
            </>
          )
        }
      </Answer>
    </Sheet>
  );
}

function Fields({ title, fields }: { title: string; fields: Readonly<Record<string, unknown>> }) {
  const all = Object.entries(fields);
  return (
    <section className="compose-state-part" aria-label={title}>
      <h3>{title}</h3>
      {all.length === 0 && <p className="muted">None</p>}
      <dl className="compose-state">
        {all.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="mono">{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
