import { Send } from 'lucide-react';
import { useState } from 'react';
import type { Run, Space } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, notifyProblem } from '../../parts';
import { notify, useQuery } from '../../state';

/** Where one writes into a space as one of its members, and sees before which runs that would start. */
export function Writer({ space, runs, onPosted }: { space: Space; runs: readonly Run[]; onPosted: () => void }) {
  const [senderId, setSender] = useState(space.members.find((member) => member.type === 'human')?.entityId ?? space.members[0]?.entityId);
  const [text, setText] = useState('');
  const [wait, setWait] = useState(false);
  const [busy, setBusy] = useState(false);
  const sender = space.members.find((member) => member.entityId === senderId);
  const run = runs.find((one) => one.entityId === senderId && one.status === 'running');
  const waiting = runs.filter((one) => one.status === 'waiting_reply');
  const would = useQuery(senderId === undefined ? null : `${space.spaceId} ${senderId} ${run?.runId ?? ''} ${space.messages} ${waiting.length}`, () =>
    api.space.wouldTrigger({ spaceId: space.spaceId, senderId: senderId ?? '', ...(run && { runId: run.runId }) }),
  );
  if (!sender) return null;

  const act = async (work: () => Promise<string>): Promise<void> => {
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
    act(async () => {
      const { started, resumed } = run
        ? await api.run.send({ runId: run.runId, spaceId: space.spaceId, text, wait })
        : await api.space.post({ spaceId: space.spaceId, senderId: sender.entityId, text });
      setText('');
      setWait(false);
      return `Posted. Runs started: ${started.length}${resumed.length > 0 ? `, resumed: ${resumed.length}` : ''}.`;
    });
  const finish = (ended: Run): Promise<void> =>
    act(async () => {
      const { contextId } = await api.run.finish({ runId: ended.runId, status: 'completed' });
      return `The run ended; what it read is ${contextId ?? 'kept'}.`;
    });

  return (
    <form
      className="writer"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '' && !busy) void send();
      }}
    >
      {runs.length > 0 && (
        <ul className="writer-runs" aria-label="Runs that are not over">
          {runs.slice(0, 6).map((one) => (
            <li key={one.runId} className="badge">
              {space.members.find((member) => member.entityId === one.entityId)?.name}{' '}
              {one.status === 'running' ? 'runs' : `waits${one.waiting?.for ? ` for ${one.waiting.for}` : ''}`}
              <button type="button" className="link-button" disabled={busy} onClick={() => void finish(one)}>
                end
              </button>
            </li>
          ))}
          {runs.length > 6 && <li className="muted">and {runs.length - 6} more</li>}
        </ul>
      )}
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
      <p className="muted writer-would">{would.status === 'done' ? wouldWords(would.data) : ' '}</p>
      <div className="writer-line">
        <select className="field" aria-label="Write as" value={sender.entityId} onChange={(event) => setSender(event.target.value)}>
          {space.members.map((member) => (
            <option key={member.entityId} value={member.entityId}>
              {member.name} ({member.type})
            </option>
          ))}
        </select>
        {run && (
          <label className="writer-wait">
            <input type="checkbox" checked={wait} onChange={(event) => setWait(event.target.checked)} /> wait for a reply
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

function wouldWords(members: readonly { readonly name: string; readonly runs: boolean; readonly reason: string }[]): string {
  const starts = members.filter((member) => member.runs).map((member) => member.name);
  const goesOn = members.filter((member) => member.reason.startsWith('has a run waiting')).map((member) => member.name);
  const parts = [starts.length > 0 && `starts ${starts.join(', ')}`, goesOn.length > 0 && `lets ${goesOn.join(', ')} go on`].filter(
    (part) => part !== false,
  );
  const limited = members.find((member) => member.reason.startsWith('the chain is'));
  return parts.length > 0 ? `This ${parts.join(' and ')}.` : limited ? `This starts nobody: ${limited.reason}.` : 'This starts nobody.';
}
