import { Send } from 'lucide-react';
import { useState } from 'react';
import type { Run, Space, Triggered } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, notifyProblem } from '../../parts';
import { notify, useQuery } from '../../state';

/** Writes a message to a space as one of its members. It shows in advance which runs the message starts. */
export function Writer({ space, runs, onPosted }: { space: Space; runs: readonly Run[]; onPosted: () => void }) {
  const [senderId, setSender] = useState(space.members.find((member) => member.type === 'human')?.entityId ?? space.members[0]?.entityId);
  const [text, setText] = useState('');
  const [wait, setWait] = useState(false);
  const [busy, setBusy] = useState(false);
  const sender = space.members.find((member) => member.entityId === senderId);
  const run = runs.find((one) => one.entityId === senderId && one.status === 'running');
  const waiting = runs.filter((one) => one.status === 'waiting_reply');
  const triggered = useQuery(
    senderId === undefined ? null : `${space.spaceId} ${senderId} ${run?.runId ?? ''} ${space.messages} ${waiting.length}`,
    () => api.space.wouldTrigger({ spaceId: space.spaceId, senderId: senderId ?? '', ...(run && { runId: run.runId }) }),
  );
  if (!sender) return null;

  const perform = async (work: () => Promise<string>): Promise<void> => {
    setBusy(true);
    try {
      notify(await work());
      onPosted();
    } catch (error) {
      notifyProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const send = (): Promise<void> =>
    perform(async () => {
      const { started, resumed } = run
        ? await api.run.send({ runId: run.runId, spaceId: space.spaceId, text, wait })
        : await api.space.post({ spaceId: space.spaceId, senderId: sender.entityId, text });
      setText('');
      setWait(false);
      return `Posted. Runs started: ${started.length}${resumed.length > 0 ? `, resumed: ${resumed.length}` : ''}.`;
    });
  const finish = (ended: Run): Promise<void> =>
    perform(async () => {
      const { contextId } = await api.run.finish({ runId: ended.runId, status: 'completed' });
      return contextId ? `Run ended. Its context is ${contextId}.` : 'Run ended.';
    });

  return (
    <form
      className="writer"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '' && !busy) void send();
      }}
    >
      <OpenRuns space={space} runs={runs} disabled={busy} onEnd={(ended) => void finish(ended)} />
      <textarea
        className="field"
        aria-label="Message"
        placeholder={`Write as ${sender.name}…`}
        rows={2}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      <p className="muted writer-would">{triggered.status === 'done' ? triggerText(triggered.data) : ' '}</p>
      <div className="writer-line">
        <SenderChoice space={space} senderId={sender.entityId} onChange={setSender} />
        {run && (
          <label className="writer-wait">
            <input type="checkbox" checked={wait} onChange={(event) => setWait(event.target.checked)} /> Wait for a reply
          </label>
        )}
        <span className="grow" />
        <Button icon={Send} look="primary" type="submit" disabled={busy || text.trim() === ''}>
          Send
        </Button>
      </div>
    </form>
  );
}

function SenderChoice({ space, senderId, onChange }: { space: Space; senderId: string; onChange: (senderId: string) => void }) {
  return (
    <select className="field" aria-label="Write as" value={senderId} onChange={(event) => onChange(event.target.value)}>
      {space.members.map((member) => (
        <option key={member.entityId} value={member.entityId}>
          {member.name} ({member.type})
        </option>
      ))}
    </select>
  );
}

interface OpenRunsProps {
  readonly space: Space;
  readonly runs: readonly Run[];
  readonly disabled: boolean;
  readonly onEnd: (run: Run) => void;
}

const shownRuns = 6;

function OpenRuns({ space, runs, disabled, onEnd }: OpenRunsProps) {
  if (runs.length === 0) return null;
  return (
    <ul className="writer-runs" aria-label="Open runs">
      {runs.slice(0, shownRuns).map((run) => (
        <li key={run.runId} className="badge">
          {space.members.find((member) => member.entityId === run.entityId)?.name}{' '}
          {run.status === 'running' ? 'is running' : `is waiting${run.waiting?.for ? ` for ${run.waiting.for}` : ''}`}
          <button type="button" className="link-button" disabled={disabled} onClick={() => onEnd(run)}>
            End run
          </button>
        </li>
      ))}
      {runs.length > shownRuns && <li className="muted">and {runs.length - shownRuns} more</li>}
    </ul>
  );
}

/** Which runs a message would start or resume, as a sentence. */
function triggerText(members: readonly Triggered[]): string {
  const named = (code: Triggered['code']): string =>
    members
      .filter((member) => member.code === code)
      .map((member) => member.name)
      .join(', ');
  const [starts, resumes] = [named('starts'), named('resumes')];
  const parts = [starts && `starts ${starts}`, resumes && `resumes ${resumes}`].filter((part) => part !== '');
  if (parts.length > 0) return `This message ${parts.join(' and ')}.`;
  if (named('limit')) return 'This message starts no agent: agents have answered each other as often as allowed.';
  return 'This message starts no agent.';
}
