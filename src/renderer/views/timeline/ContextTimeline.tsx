import { useMemo, useState } from 'react';
import type { ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer } from '../../parts';
import { go, useQuery } from '../../state';
import { ToCommit } from '../NoCommit';
import { Chat } from './Chat';
import { Reader } from './Reader';

/** The selected context as chat and as timeline. */
export function ContextTimeline({ project, commit }: { project: string; commit: ContextId }) {
  const [pointed, setPointed] = useState<string>();
  const query = useQuery(`${project} ${commit} transcript`, (signal) => api.timeline.transcript({ id: commit }, { signal }));
  return (
    <Answer
      query={query}
      what="Cannot show this context as a timeline"
      loading="Loading the context"
      stillWorks="The chain and other commits still work."
      actions={<ToCommit />}
    >
      {({ input, rendered }) => <Transcript input={input} rendered={rendered} pointed={pointed} onPoint={setPointed} />}
    </Answer>
  );
}

type TranscriptData = Awaited<ReturnType<typeof api.timeline.transcript>>;

interface TranscriptProps extends TranscriptData {
  readonly pointed: string | undefined;
  readonly onPoint: (id: string | undefined) => void;
}

function Transcript({ input, rendered, pointed, onPoint }: TranscriptProps) {
  const messages = useMemo(() => input.history?.messages ?? [], [input]);
  return (
    <>
      <div className="timeline-chat">
        <header className="timeline-head">
          <h2 className="ellipsis">{input.spaces[0]?.name ?? 'This context'}</h2>
          <span className="muted ellipsis grow">{input.spaces[0]?.members.map((member) => member.name ?? 'Unknown').join(', ')}</span>
        </header>
        <Chat
          messages={messages}
          selfId={input.identity.entityId}
          dividerAfter={undefined}
          pointed={pointed}
          onPoint={onPoint}
          onOpen={(id) => go({ view: 'context', entry: id.slice('msg-'.length) as never })}
        />
      </div>
      <div className="timeline-reader">
        <header className="timeline-head">
          <span className="muted">As an agent would read it</span>
        </header>
        <Reader rendered={rendered} input={input} pointed={pointed} onPoint={onPoint} />
      </div>
    </>
  );
}
