import { RotateCcw, ShieldCheck, TriangleAlert, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { damageInWords } from '../../core/contract/index.js';
import { api, useConnection, useDamagedRows } from '../client';
import { Button, IconButton, notifyProblem, RepairButton } from '../parts';
import { dismissNotice, followAddress, useProject, useUi } from '../state';

/** Milliseconds before a lost connection is reported. Most connections are restored sooner. */
const patienceMs = 300;

/** A notice while the engine does not answer. The content on the screen stays; new data waits. */
export function Offline() {
  const { state, retry } = useConnection();
  const [waited, setWaited] = useState(false);
  const away = state.phase === 'lost' || (state.phase === 'connecting' && state.attempt > 0);
  useEffect(() => {
    if (!away) return setWaited(false);
    const timer = setTimeout(() => setWaited(true), patienceMs);
    return () => clearTimeout(timer);
  }, [away]);
  if (!away || !waited) return null;
  return (
    <div className="notice-line offline" role="alert">
      <span className="grow">
        {state.phase === 'lost' ? `${state.reason} ` : ''}Everything on the screen stays, and nothing that was stored is lost. Stemma keeps trying to
        reach the engine.{!window.stemma && ' If you started Stemma again, open the new link that it printed.'}
      </span>
      <Button small icon={RotateCcw} label="Try now" onClick={retry} disabled={state.phase !== 'lost'} />
    </div>
  );
}

/** A bar above a read-only project. It says why, and can trust a project that this machine did not create. */
export function Restricted() {
  const project = useProject(({ state }) => state);
  if (project.phase !== 'open' || project.info.access.mode === 'read-write') return null;
  const { trusted, access } = project.info;
  const trust = (): void => void api.project.trust({ dir: project.dir }).then(() => followAddress(), notifyProblem);
  return (
    <section className="notice-line restricted" aria-label="Read-only project">
      <span className="grow">
        {trusted
          ? `This project is open for reading only: ${access.message}.`
          : 'This project was made on another machine, or it has moved. You can read, compare and export it. Until you trust it, nothing in it can be changed or run.'}
      </span>
      {!trusted && <Button small icon={ShieldCheck} label="Trust this project" onClick={trust} />}
    </section>
  );
}

/** A bar above a project with damaged records, because a sum or a list made from them has no mark of its own. */
export function DamagedRecords() {
  const rows = useDamagedRows();
  if (rows.size === 0) return null;
  return (
    <section className="notice-line restricted damaged" aria-label="Damaged records">
      <TriangleAlert size={14} aria-hidden />
      <span className="grow">Some records of this project are damaged: {damageInWords(rows)}. What is shown from them may be wrong.</span>
      <RepairButton />
    </section>
  );
}

/** A message with an action, such as Undo. Messages without an action are in the status bar. */
export function Toast() {
  const { notice, noticeAct } = useUi();
  if (!notice || !noticeAct) return null;
  return (
    <div className="toast row" role="status">
      <span className="grow">{notice}</span>
      <Button
        small
        look="primary"
        label={noticeAct.name}
        onClick={() => {
          dismissNotice();
          noticeAct.act();
        }}
      />
      <IconButton small icon={X} label="Dismiss" onClick={dismissNotice} />
    </div>
  );
}
