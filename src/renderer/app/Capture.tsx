import { TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { CapturedFile, CaptureStatus, Checkpointing, Runtime } from '../../core/contract/index.js';
import { agents, attempt, Button, CardButton, Checkbox, LinkButton, notifyProblem, Select, say } from '../parts';
import {
  checkpointNow,
  chooseCheckpoints,
  chosenCheckpoints,
  go,
  isDesktop,
  readCapture,
  setNotifyTurns,
  switchCapture,
  useEvery,
  useLive,
  useNotifyTurns,
  useTask,
} from '../state';

/** Milliseconds between two loads while the card is open: a running turn makes no commit, and so reports no change. */
const lookMs = 1_500;
const filesShown = 6;

/** The switch for live capture into the open project, and the captured files. */
export function CaptureControl() {
  const capture = useLive((live) => live.capture);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (open) void readCapture();
  }, [open]);
  useEvery(lookMs, open, readCapture);
  const on = capture?.watching ?? false;
  const troubled = on && (capture?.problems.length ?? 0) > 0;
  const state = capture === undefined ? '' : troubled ? 'on, with problems' : on ? 'on' : 'off';
  return (
    <CardButton
      label="Live capture"
      open={open}
      onOpenChange={setOpen}
      button={
        <button type="button" className="capture-button nav-link row" aria-label={`Live capture: ${state}`} title="Record agents while they work">
          {troubled ? <TriangleAlert size={16} className="tone-warn" aria-hidden /> : <span className={`pulse${on ? '' : ' off'}`} aria-hidden />}
          <span className="capture-name">Live capture {state}</span>
        </button>
      }
    >
      {capture && <Card capture={capture} onLeave={() => setOpen(false)} />}
    </CardButton>
  );
}

function Card({ capture, onLeave }: { capture: CaptureStatus; onLeave: () => void }) {
  const [switching, start] = useTask<void>();
  const notifies = useNotifyTurns(({ on }) => on);
  const { watching, places, files, last, problems } = capture;
  const change = () => void start(() => switchCapture(!watching).catch(notifyProblem));
  const show = (commit: CapturedFile['tip']) => {
    if (!commit) return;
    onLeave();
    go({ view: 'chain', session: undefined, commit, against: undefined, entry: undefined });
  };
  return (
    <>
      <header className="row">
        <h2 className="grow">{watching ? 'Live capture is on' : 'Live capture is off'}</h2>
        <Button small look={watching ? undefined : 'primary'} disabled={switching.state === 'running'} onClick={change}>
          {watching ? 'Stop' : 'Start'}
        </Button>
      </header>
      <p className="muted">
        {watching
          ? 'Each turn becomes a commit as soon as it ends, while the agent keeps working.'
          : 'When it is on, each turn of an agent on this machine becomes a commit as soon as it ends, while this project is open. Existing histories are not read; import them instead.'}
      </p>
      {!watching && (
        <p className="muted">
          Claude Code can also record itself without a window: <code>stemma hook --install</code> shows the change to its settings and asks first.
        </p>
      )}
      {watching && <When />}
      {watching && isDesktop && <Checkbox label="Notify me when a turn ends" checked={notifies} onChange={setNotifyTurns} />}
      {watching && <Places places={places} />}
      {watching && <Sessions files={files} since={capture.since} onShow={show} />}
      {last?.commit && (
        <p>
          Last checkpoint {say.when(last.at)}:{' '}
          <LinkButton label={say.shortId(last.commit)} className="mono" onClick={() => show(last.commit ?? undefined)} />
          <span className="muted"> · {say.plural(capture.checkpoints, 'checkpoint')} in total</span>
        </p>
      )}
      {problems.length > 0 && <Problems problems={problems} />}
    </>
  );
}

const choices: Readonly<Record<Checkpointing['at'], string>> = {
  turn: 'At the end of each turn',
  assistant: 'At each message of the assistant, before its tools run',
  turns: 'Every 5 turns',
};

function When() {
  const [{ at, events }, setChosen] = useState(chosenCheckpoints);
  const change = (next: Checkpointing) => {
    setChosen(next);
    void chooseCheckpoints(next).catch(notifyProblem);
  };
  return (
    <>
      <label className="row">
        Checkpoint
        <Select className="grow" value={at} options={Object.entries(choices)} onChange={(next) => change({ at: next, events })} />
      </label>
      <Checkbox checked={events === true} onChange={(on) => change({ at, events: on })}>
        Also at an error, a permission or a change of the model
      </Checkbox>
    </>
  );
}

function Places({ places }: Pick<CaptureStatus, 'places'>) {
  // An agent may keep histories in several folders; it counts as installed if one of them exists.
  const here = new Set(places.filter(isHere).map(nameOf));
  const later = [...new Set(places.map(nameOf))].filter((name) => !here.has(name));
  return (
    <ul className="capture-places" aria-label="Recorded folders">
      {places.filter(isHere).map((place) => (
        <li key={place.path} className="row baseline small">
          <span className="ellipsis mono grow" title={place.path}>
            {place.path}
          </span>
          <span className="muted">
            {nameOf(place)}
            {place.there ? '' : ' · does not exist yet'}
          </span>
        </li>
      ))}
      {later.length > 0 && <li className="row baseline small muted">Recorded as soon as they are installed: {later.join(', ')}</li>}
    </ul>
  );
}

function Sessions({ files, since, onShow }: Pick<CaptureStatus, 'files' | 'since'> & { onShow: (commit: CapturedFile['tip']) => void }) {
  return (
    <section aria-label="Active sessions">
      <h3>Sessions</h3>
      {files.length === 0 && <p className="muted">No session has changed since {since ? say.when(since) : 'the start'}.</p>}
      <ul>
        {files.slice(0, filesShown).map((file) => (
          <li key={file.path}>
            <button type="button" className="capture-file row baseline small" disabled={!file.tip} title={file.path} onClick={() => onShow(file.tip)}>
              <span className="ellipsis grow">{file.cwd ?? file.path}</span>
              <span className="muted">{describeFile(file)}</span>
            </button>
            {file.pending > 0 && (
              <Button small label="Checkpoint now" title="Store the turn in progress up to now" onClick={attempt(() => checkpointNow(file.path))} />
            )}
          </li>
        ))}
      </ul>
      {files.length > filesShown && <p className="muted">and {files.length - filesShown} more</p>}
    </section>
  );
}

function Problems({ problems }: Pick<CaptureStatus, 'problems'>) {
  return (
    <section aria-label="Problems">
      <h3 className="tone-warn">
        <TriangleAlert size={12} aria-hidden /> {say.plural(problems.length, 'problem')}
      </h3>
      <ul className="capture-problems">
        {problems.slice(-5).map((problem) => (
          <li key={`${problem.path} ${problem.line} ${problem.reason}`}>
            <span className="mono ellipsis" title={problem.path}>
              {problem.path}
              {problem.line > 0 && `:${problem.line}`}
            </span>
            <span className="muted">{problem.reason}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

type Place = CaptureStatus['places'][number];

const nameOf = ({ agent }: Place): string => (agent !== undefined && agent in agents ? agents[agent as Runtime].name : '');
/** Folders that a person named are always listed; agents that are not installed are listed by name only. */
const isHere = (place: Place): boolean => place.there || place.agent === undefined;

function describeFile(file: CapturedFile): string {
  if (file.open) return 'turn in progress';
  return file.capturedAt ? `up to ${say.when(file.capturedAt)}` : 'nothing to record yet';
}
