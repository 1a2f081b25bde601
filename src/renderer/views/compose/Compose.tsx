import { Layers } from 'lucide-react';
import { useDeferredValue, useRef, useState } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, ProblemLine, problemOf } from '../../parts';
import { ask, useNavigation, useQuery } from '../../state';
import { NoCommit, ToCommit } from '../NoCommit';
import { ComposedMessages } from './ComposedMessages';
import { ComposeTools } from './ComposeTools';
import { EditLayer } from './EditLayer';
import { LayerStack } from './LayerStack';
import { ComposedReply } from './Reply';
import { sendForm } from './sendForm';
import { asRecorded, inputOf, type Preview, textToEdit, withText } from './trial';
import { useSending } from './useSending';

/** The layers of a context and the messages that they become. */
export function ComposeView({ project }: { project: string }) {
  const commit = useNavigation(({ route }) => route.commit);
  if (!commit) {
    return (
      <NoCommit title="No commit selected" icon={Layers}>
        The layers of a context appear here: system prompt, blocks, memory and query. Change one to see what the model would receive.
      </NoCommit>
    );
  }
  return <Composition key={`${project} ${commit}`} project={project} commit={commit} />;
}

function Composition({ project, commit }: { project: string; commit: ContextId }) {
  const [trial, setTrial] = useState(asRecorded);
  const [edited, setEdited] = useState<string>();
  const { sending, send, stop } = useSending();
  const settled = useDeferredValue(trial);
  const recorded = useQuery(`${project} ${commit}`, (signal) => api.compose.preview(inputOf(commit, asRecorded), { signal }));
  const changed = settled !== asRecorded;
  const tried = useQuery(changed ? `${project} ${commit} ${JSON.stringify(settled)}` : null, (signal) =>
    api.compose.preview(inputOf(commit, settled), { signal }),
  );
  // While a trial is computed, the previous one stays in view.
  const last = useRef<Preview>(undefined);
  if (!changed) last.current = undefined;
  else if (tried.status === 'done') last.current = tried.data;
  return (
    <Answer
      query={recorded}
      what="Cannot load the layers of this context"
      loading="Loading the layers"
      stillWorks="The chain and other commits still work."
      actions={<ToCommit />}
      lines={12}
    >
      {(base) => {
        const now = last.current ?? base;
        return (
          <section className="compose" aria-label="Compose">
            <ComposeTools trial={trial} onChange={setTrial} commit={commit} now={now} onSend={() => ask(sendForm(now.messages, send))} />
            {tried.status === 'failed' && <ProblemLine>{problemOf(tried.error).message}</ProblemLine>}
            <div className="compose-body">
              <LayerStack now={now} trial={trial} onEdit={setEdited} />
              <ComposedMessages base={base} now={now} />
            </div>
            {sending && <ComposedReply sending={sending} onStop={stop} />}
            {edited !== undefined && (
              <EditLayer
                project={project}
                layer={edited}
                text={textToEdit(trial, edited, base, now)}
                onClose={() => setEdited(undefined)}
                onDone={(text) => {
                  setTrial(withText(trial, edited, text));
                  setEdited(undefined);
                }}
              />
            )}
          </section>
        );
      }}
    </Answer>
  );
}
