import { ClipboardCopy, FileOutput } from 'lucide-react';
import { useState } from 'react';
// Types only: the contract's schemas stay out of the window's bundle.
import type { ContextId, Runtime } from '../../../core/contract/index.js';
import { api } from '../../client';
import { agentIds, agents, Button, Copyable, ProblemLine, problemOf, Sheet, say } from '../../parts';
import { copy, dismiss } from '../../state';

/** Puts the context where an agent looks for its sessions, and says how to go on there. */
export function ResumeSheet({ commit, agent: given }: { commit: ContextId; agent: Runtime }) {
  const [agent, setAgent] = useState(given);
  const [cwd, setCwd] = useState('');
  const [state, setState] = useState<
    { phase: 'asking' | 'writing' } | { phase: 'done'; made: Awaited<ReturnType<typeof api.export.resume>> } | { phase: 'failed'; error: unknown }
  >({
    phase: 'asking',
  });
  const make = async () => {
    setState({ phase: 'writing' });
    try {
      setState({ phase: 'done', made: await api.export.resume({ id: commit, agent, ...(cwd.trim() && { cwd: cwd.trim() }) }) });
    } catch (error) {
      setState({ phase: 'failed', error });
    }
  };
  const done = state.phase === 'done' ? state.made : undefined;
  return (
    <Sheet
      title={`Resume in ${agents[agent].name}`}
      onClose={dismiss}
      footer={
        done ? (
          <>
            <Button onClick={dismiss}>Close</Button>
            <Button look="primary" icon={ClipboardCopy} autoFocus onClick={() => void copy(done.command, 'Copied the command')}>
              Copy the command
            </Button>
          </>
        ) : (
          <>
            <Button onClick={dismiss}>Cancel</Button>
            <Button look="primary" icon={FileOutput} disabled={state.phase === 'writing'} onClick={() => void make()}>
              {state.phase === 'writing' ? 'Writing the session…' : 'Write the session'}
            </Button>
          </>
        )
      }
    >
      {done ? (
        <div className="export">
          <p>The session is where {agents[agent].name} looks for it. Run this in a terminal:</p>
          <Copyable text={done.command} label="Command" />
          <Copyable text={done.path} label="File" />
        </div>
      ) : (
        <div className="export">
          <p>
            Writes <b className="mono">{say.shortId(commit)}</b> as a new session into {agents[agent].name}’s own folder. The agent then goes on from
            {agent === given ? ' exactly here' : ' here, as far as its own format can hold what was said'}. No file is overwritten.
          </p>
          {agentIds.length > 1 && (
            <label className="export-cwd">
              <span className="muted">Agent</span>
              <select className="field" value={agent} onChange={(event) => setAgent(event.target.value as Runtime)}>
                {agentIds.map((id) => (
                  <option key={id} value={id}>
                    {agents[id].name}
                  </option>
                ))}
              </select>
            </label>
          )}
          <label className="export-cwd">
            <span className="muted">Working directory</span>
            <input
              className="field mono"
              placeholder="the one of the original session"
              value={cwd}
              onChange={(event) => setCwd(event.target.value)}
            />
          </label>
          {state.phase === 'failed' && <ProblemLine>Nothing was written: {problemOf(state.error).message}</ProblemLine>}
        </div>
      )}
    </Sheet>
  );
}
