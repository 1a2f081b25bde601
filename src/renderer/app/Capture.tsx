import { Circle, CircleDot, TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { CapturedFile, CaptureStatus, Runtime } from '../../core/contract/index.js';
import { agents, Button, CardButton, notifyProblem, say } from '../parts';
import { go, readCapture, switchCapture, useLive } from '../state';

/** How often the picture is read while it is looked at: a turn that goes on makes no commit, so nobody tells of it. */
const lookMs = 1_500;
const filesShown = 6;

/** Whether the agents of this machine are followed into the open project, what of them came, and the switch for it. */
export function CaptureControl() {
  const capture = useLive((live) => live.capture);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (!open) return;
    void readCapture();
    const timer = setInterval(() => void readCapture(), lookMs);
    return () => clearInterval(timer);
  }, [open]);
  const on = capture?.watching ?? false;
  const troubled = on && (capture?.problems.length ?? 0) > 0;
  const state = capture === undefined ? '' : troubled ? 'on, with problems' : on ? 'on' : 'off';
  return (
    <CardButton
      label="Capture"
      open={open}
      onOpenChange={setOpen}
      button={
        <button type="button" className="button plain capture-button" aria-label={`Capture: ${state}`} title="Follow the agents at work">
          <span className="capture-name">capture</span>
          {troubled ? (
            <TriangleAlert size={12} className="capture-troubled" aria-hidden />
          ) : on ? (
            <CircleDot size={12} className="capture-on" aria-hidden />
          ) : (
            <Circle size={12} aria-hidden />
          )}
        </button>
      }
    >
      {capture && <Card capture={capture} onLeave={() => setOpen(false)} />}
    </CardButton>
  );
}

function Card({ capture, onLeave }: { capture: CaptureStatus; onLeave: () => void }) {
  const [busy, setBusy] = useState(false);
  const { watching, places, files, last, problems } = capture;
  // An agent may keep histories in several places: it is here where one of them is.
  const here = new Set(places.filter(isHere).map(nameOf));
  const later = [...new Set(places.map(nameOf))].filter((name) => !here.has(name));
  const change = () => {
    setBusy(true);
    void switchCapture(!watching)
      .catch(notifyProblem)
      .finally(() => setBusy(false));
  };
  const show = (commit: CapturedFile['tip']) => {
    if (!commit) return;
    onLeave();
    go({ view: 'chain', session: undefined, commit, against: undefined, entry: undefined });
  };
  return (
    <>
      <header>
        <h2 className="grow">{watching ? 'Following the agents' : 'Not following the agents'}</h2>
        <Button small {...(watching ? {} : { look: 'primary' as const })} disabled={busy} onClick={change}>
          {watching ? 'Stop' : 'Start'}
        </Button>
      </header>
      <p className="muted">
        {watching
          ? 'Each turn that is over becomes a commit here, while the agent works.'
          : 'Started, each turn of an agent on this machine becomes a commit here as soon as it is over, whenever this project is open. What is there already is not read: that is an import.'}
      </p>
      {!watching && (
        <p className="muted">
          Claude Code can checkpoint by itself, without a window: <code>stemma hook --install</code> shows the change of its settings and asks.
        </p>
      )}
      {watching && (
        <ul className="capture-places" aria-label="What is followed">
          {places.filter(isHere).map((place) => (
            <li key={place.path}>
              <span className="ellipsis mono grow" title={place.path}>
                {place.path}
              </span>
              <span className="muted">
                {nameOf(place)}
                {place.there ? '' : ' · not there yet'}
              </span>
            </li>
          ))}
          {later.length > 0 && <li className="muted">As soon as they are on this machine: {later.join(', ')}</li>}
        </ul>
      )}
      {watching && (
        <section aria-label="Sessions at work">
          <h3>Sessions</h3>
          {files.length === 0 && <p className="muted">None has changed since {capture.since ? say.when(capture.since) : 'then'}.</p>}
          <ul className="capture-files">
            {files.slice(0, filesShown).map((file) => (
              <li key={file.path}>
                <button type="button" className="capture-file" disabled={!file.tip} title={file.path} onClick={() => show(file.tip)}>
                  <span className="ellipsis grow">{file.cwd ?? file.path}</span>
                  <span className="muted">{wordsOf(file)}</span>
                </button>
              </li>
            ))}
          </ul>
          {files.length > filesShown && <p className="muted">and {files.length - filesShown} more</p>}
        </section>
      )}
      {last?.commit && (
        <p>
          Last checkpoint {say.when(last.at)}:{' '}
          <button type="button" className="link-button mono" onClick={() => show(last.commit ?? undefined)}>
            {say.shortId(last.commit)}
          </button>
          <span className="muted"> · {say.plural(capture.checkpoints, 'checkpoint')} in all</span>
        </p>
      )}
      {problems.length > 0 && (
        <section aria-label="Problems">
          <h3 className="capture-troubled">
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
      )}
    </>
  );
}

type Place = CaptureStatus['places'][number];

const nameOf = ({ agent }: Place): string => (agent !== undefined && agent in agents ? agents[agent as Runtime].name : '');
/** What a person named is shown, there or not; agents that are not on this machine are told by their names. */
const isHere = (place: Place): boolean => place.there || place.agent === undefined;

function wordsOf(file: CapturedFile): string {
  if (file.open) return 'a turn goes on';
  return file.capturedAt ? `up to ${say.when(file.capturedAt)}` : 'nothing to take in yet';
}
