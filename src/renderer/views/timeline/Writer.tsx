import { CornerUpLeft, Send, X } from 'lucide-react';
import { useState } from 'react';
import type { Run, Space, TimelineMessage, Triggered } from '../../../core/contract/index.js';
import { api } from '../../client';
import { runForm } from '../../forms';
import {
  Button,
  Checkbox,
  IconButton,
  Input,
  LinkButton,
  notifyProblem,
  Select,
  say,
  sendAtEnter,
  sending,
  TextArea,
  useWorkedOn,
} from '../../parts';
import { ask, notify, useOpenDir, useQuery, useTask } from '../../state';
import { defaultSender, runWords } from './space';

interface WriterProps {
  readonly space: Space;
  readonly runs: readonly Run[];
  readonly replyTo: TimelineMessage | undefined;
  readonly onReplyTo: (message: TimelineMessage | undefined) => void;
  readonly onPosted: () => void;
}

const minute = 60_000;

/** Writes a message to a space as one of its members. It shows in advance which runs the message starts. */
export function Writer({ space, runs, replyTo, onReplyTo, onPosted }: WriterProps) {
  const [chosen, setChosen] = useState<string>();
  const me = useQuery('who the hub says I am', (signal) => api.team.news({}, { signal }));
  const senderId = chosen ?? defaultSender(space, localStorage.getItem(writesAs(space)), me.status === 'done' ? me.data.me : null);
  const [text, setText] = useState('');
  const [wait, setWait] = useState<Wait>({ isOn: false, for: '', minutes: 5 });
  const [posting, start] = useTask<void>();
  const busy = posting.state === 'running';
  const perform = (work: () => Promise<string>): Promise<void> => start(() => work().then(notify).then(onPosted).catch(notifyProblem));
  const sender = space.members.find((member) => member.entityId === senderId);
  const run = runs.find((one) => one.entityId === senderId && one.status === 'running');
  const waiting = runs.filter((one) => one.status === 'waiting_reply');
  const reply = replyTo && { replyTo: replyTo.id };
  const triggered = useQuery(
    senderId === undefined ? null : `${space.spaceId} ${senderId} ${run?.runId ?? ''} ${space.messages} ${waiting.length} ${replyTo?.id ?? ''}`,
    () => api.space.wouldTrigger({ spaceId: space.spaceId, senderId: senderId ?? '', ...(run && { runId: run.runId }), ...reply }),
  );
  if (!sender) return null;

  const choose = (id: string): void => {
    setChosen(id);
    // Writing as an agent once does not change the sender of the next message.
    if (space.members.some(({ entityId, type }) => entityId === id && type === 'human')) localStorage.setItem(writesAs(space), id);
  };
  const send = (): Promise<void> =>
    perform(async () => {
      const waiting = wait.isOn && { wait: { timeoutMs: wait.minutes * minute, ...(wait.for !== '' && { for: wait.for }) } };
      const { started, resumed } = run
        ? await api.run.send({ runId: run.runId, spaceId: space.spaceId, text, ...reply, ...waiting })
        : await api.space.post({ spaceId: space.spaceId, senderId: sender.entityId, text, ...reply, ...waiting });
      setText('');
      setWait((now) => ({ ...now, isOn: false }));
      onReplyTo(undefined);
      return `Posted. Runs started: ${started.length}${resumed.length > 0 ? `, resumed: ${resumed.length}` : ''}.`;
    });
  const finish = (ended: Run): Promise<void> =>
    perform(async () => {
      const { contextId } = await api.run.finish({ runId: ended.runId, status: 'completed' });
      return contextId ? `Run ended. Its context is ${contextId}.` : 'Run ended.';
    });

  return (
    <form className="writer gap-6 rigid line-above on-pane stack" onSubmit={sending(() => text.trim() !== '' && !busy && send())}>
      <OpenRuns space={space} runs={runs} disabled={busy} onEnd={(ended) => void finish(ended)} />
      {replyTo && <ReplyLine message={replyTo} onCancel={() => onReplyTo(undefined)} />}
      <TextArea label="Message" placeholder={`Write as ${sender.name}…`} rows={2} value={text} onChange={setText} onKeyDown={sendAtEnter} />
      <p className="muted small">{triggered.status === 'done' ? triggerText(triggered.data) : ' '}</p>
      <div className="writer-line row wrap">
        <Select
          label="Write as"
          value={sender.entityId}
          options={space.members.map(({ entityId, name, type }) => [entityId, `${name} (${type})`])}
          onChange={choose}
        />
        <Checkbox className="small" label="Wait for a reply" checked={wait.isOn} onChange={(isOn) => setWait({ ...wait, isOn })} />
        {wait.isOn && <WaitChoice others={space.members.filter((one) => one !== sender)} wait={wait} onChange={setWait} />}
        <span className="grow" />
        <Button icon={Send} look="primary" type="submit" label="Send" disabled={busy || text.trim() === ''} />
      </div>
    </form>
  );
}

/** The key under which this machine remembers the sender in a space. */
const writesAs = ({ spaceId }: Space): string => `stemma.writes-as.${spaceId}`;

const ReplyLine = ({ message, onCancel }: { message: TimelineMessage; onCancel: () => void }) => (
  <p className="writer-reply gap-6 row muted small">
    <CornerUpLeft size={12} aria-hidden />
    <span className="ellipsis grow">
      Reply to {message.sender?.name ?? 'Unknown'}: {say.firstLine(message.text ?? '', 90)}
    </span>
    <IconButton small icon={X} label="Do not reply to this message" onClick={onCancel} />
  </p>
);

/** A wait for a reply. It ends with an answer of a member, or of anyone, and after some minutes. */
interface Wait {
  readonly isOn: boolean;
  /** The id of the member; empty for anyone. */
  readonly for: string;
  readonly minutes: number;
}

function WaitChoice({ others, wait, onChange }: { others: Space['members']; wait: Wait; onChange: (wait: Wait) => void }) {
  return (
    <>
      <Select
        label="Whose answer ends the wait"
        value={wait.for}
        options={[['', 'from anyone who replies'], ...others.map(({ entityId, name }) => [entityId, `from ${name}`] as const)]}
        onChange={(entityId) => onChange({ ...wait, for: entityId })}
      />
      <label className="small">
        for
        <Input
          className="timeline-budget rigid"
          type="number"
          label="Minutes to wait"
          min={1}
          max={1_440}
          value={wait.minutes}
          onChange={(text) => onChange({ ...wait, minutes: Math.max(1, Math.min(1_440, Number(text) || 1)) })}
        />
        minutes
      </label>
    </>
  );
}

const shownRuns = 6;

function OpenRuns({ space, runs, disabled, onEnd }: { space: Space; runs: readonly Run[]; disabled: boolean; onEnd: (run: Run) => void }) {
  const project = useOpenDir() ?? '';
  const isOnJob = useWorkedOn(project);
  if (runs.length === 0) return null;
  const isWorkedOn = ({ runId }: Run): boolean => isOnJob((what) => 'runId' in what && what.runId === runId);
  return (
    <ul className="writer-runs wrap gap-6" aria-label="Open runs">
      {runs.slice(0, shownRuns).map((run) => (
        <li key={run.runId} className="badge">
          {space.members.find((member) => member.entityId === run.entityId)?.name} {runWords(run, isWorkedOn(run))}
          {run.status === 'running' && !isWorkedOn(run) && (
            <LinkButton label="Run here…" onClick={() => ask(runForm({ runId: run.runId }, 'Run here'))} />
          )}
          <LinkButton label="End run" disabled={disabled} onClick={() => onEnd(run)} />
        </li>
      ))}
      {runs.length > shownRuns && <li className="muted">and {runs.length - shownRuns} more</li>}
    </ul>
  );
}

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
