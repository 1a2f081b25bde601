import { ClipboardCopy, FileOutput } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { type ContextId, type Runtime, runtimes } from '../../../core/contract/index.js';
import { api } from '../../client';
import { agents, Button, Copyable, describeProblem, Input, ProblemLine, Select, Sheet, say } from '../../parts';
import { copy, dismiss, useTask } from '../../state';

/** Writes the context where an agent looks for its sessions, and shows the command that resumes it. */
export function ResumeSheet({ commit, agent: given }: { commit: ContextId; agent: Runtime }) {
  const [agent, setAgent] = useState(given);
  const [cwd, setCwd] = useState('');
  const [task, run] = useTask<Awaited<ReturnType<typeof api.export.resume>>>();
  const write = () => run(() => api.export.resume({ id: commit, agent, ...(cwd.trim() && { cwd: cwd.trim() }) }));
  const done = task.state === 'done' ? task.result : undefined;
  return (
    <Sheet
      title={`Resume in ${agents[agent].name}`}
      onClose={dismiss}
      footer={
        done ? (
          <>
            <Button label="Close" onClick={dismiss} />
            <Button look="primary" icon={ClipboardCopy} autoFocus onClick={() => void copy(done.command, 'Copied the command')}>
              Copy command
            </Button>
          </>
        ) : (
          <>
            <Button label="Cancel" onClick={dismiss} />
            <Button look="primary" icon={FileOutput} disabled={task.state === 'running'} onClick={() => void write()}>
              {task.state === 'running' ? 'Writing the session…' : 'Write session'}
            </Button>
          </>
        )
      }
    >
      {done ? (
        <div className="export stack">
          <p>The session is in the folder of {agents[agent].name}. To resume it, run this command in a terminal:</p>
          <Copyable text={done.command} label="Command" />
          <Copyable text={done.path} label="File" />
        </div>
      ) : (
        <ResumeForm commit={commit} given={given} agent={agent} onAgent={setAgent} cwd={cwd} onCwd={setCwd}>
          {task.state === 'failed' && <ProblemLine>Cannot write the session: {describeProblem(task.error).message}</ProblemLine>}
        </ResumeForm>
      )}
    </Sheet>
  );
}

interface ResumeFormProps {
  readonly commit: ContextId;
  /** The agent whose format the context has. */
  readonly given: Runtime;
  readonly agent: Runtime;
  readonly onAgent: (agent: Runtime) => void;
  readonly cwd: string;
  readonly onCwd: (cwd: string) => void;
  readonly children: ReactNode;
}

function ResumeForm({ commit, given, agent, onAgent, cwd, onCwd, children }: ResumeFormProps) {
  return (
    <div className="export stack">
      <p>
        Writes <b className="mono">{say.shortId(commit)}</b> as a new session into the folder of {agents[agent].name}. The agent can then continue
        from this point{agent === given ? '' : ', with the content that its format can represent'}. Existing files are never overwritten.
      </p>
      <label className="stack gap-4">
        <span className="muted">Agent</span>
        <Select value={agent} options={runtimes.map((id) => [id, agents[id].name])} onChange={onAgent} />
      </label>
      <label className="stack gap-4">
        <span className="muted">Working directory</span>
        <Input className="mono" placeholder="Same as the original session" value={cwd} onChange={onCwd} />
      </label>
      {children}
    </div>
  );
}
