import { ClipboardCopy, FileOutput } from 'lucide-react';
import { useState } from 'react';
import { type ContextId, type Runtime, runtimes } from '../../../core/contract/index.js';
import { api } from '../../client';
import { agents, Button, Copyable, describeProblem, Input, ProblemLine, Select, Sheet, say } from '../../parts';
import { copy, dismiss, useTask } from '../../state';

/** Writes the context where an agent looks for its sessions, and shows the command that resumes it. */
export function ResumeSheet({ commit, agent: given }: { commit: ContextId; agent: Runtime }) {
  const [agent, setAgent] = useState(given);
  const [cwd, setCwd] = useState('');
  const [task, run] = useTask<Awaited<ReturnType<typeof api.export.resume>>>();
  const { name } = agents[agent];
  const isWriting = task.state === 'running';
  const write = () => run(() => api.export.resume({ id: commit, agent, ...(cwd.trim() && { cwd: cwd.trim() }) }));
  if (task.state === 'done') {
    const { command, path } = task.result;
    const copyCommand = () => void copy(command, 'Copied the command');
    return (
      <Sheet
        title={`Resume in ${name}`}
        onClose={dismiss}
        footer={
          <>
            <Button label="Close" onClick={dismiss} />
            <Button look="primary" icon={ClipboardCopy} label="Copy command" autoFocus onClick={copyCommand} />
          </>
        }
      >
        <div className="export stack">
          <p>The session is in the folder of {name}. To resume it, run this command in a terminal:</p>
          <Copyable text={command} label="Command" />
          <Copyable text={path} label="File" />
        </div>
      </Sheet>
    );
  }
  return (
    <Sheet
      title={`Resume in ${name}`}
      onClose={dismiss}
      action={{
        label: isWriting ? 'Writing the session…' : 'Write session',
        icon: FileOutput,
        disabled: isWriting,
        onClick: () => void write(),
      }}
    >
      <div className="export stack">
        <p>
          Writes <b className="mono">{say.shortId(commit)}</b> as a new session into the folder of {name}. The agent can then continue from this point
          {agent === given ? '' : ', with the content that its format can represent'}. Existing files are never overwritten.
        </p>
        <label className="stack gap-4">
          <span className="muted">Agent</span>
          <Select value={agent} options={runtimes.map((id) => [id, agents[id].name])} onChange={setAgent} />
        </label>
        <label className="stack gap-4">
          <span className="muted">Working directory</span>
          <Input className="mono" placeholder="Same as the original session" value={cwd} onChange={setCwd} />
        </label>
        {task.state === 'failed' && <ProblemLine>Cannot write the session: {describeProblem(task.error).message}</ProblemLine>}
      </div>
    </Sheet>
  );
}
