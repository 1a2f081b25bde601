import { DatabaseBackup } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../client';
import { Button, Checkbox, say, TaskProblem } from '../../parts';
import { useTask } from '../../state';

type Report = Awaited<ReturnType<typeof api.project.backups>>;

/** The backups of the project's database: the setting, their dates and sizes, and a button that makes one. */
export function Backups({ report, onChanged }: { report: Report; onChanged: () => void }) {
  const [task, start] = useTask<Report>();
  const [made, setMade] = useState(false);
  const shown = task.state === 'done' ? task.result : report;
  const busy = task.state === 'running';
  const run = (isBackup: boolean, work: (signal: AbortSignal) => Promise<Report>): void => {
    setMade(isBackup);
    void start(work).then(onChanged);
  };
  return (
    <section aria-label="Backups">
      <h3>Backups</h3>
      <p className="muted">
        Verified copies of the database, made when the project is idle and has changed. Stemma keeps the newest of three days and three weeks. A
        repair restores from them.
      </p>
      <div className="storage-actions row wrap">
        <Checkbox checked={shown.on} disabled={busy} onChange={(on) => run(false, (signal) => api.project.setBackups({ on }, { signal }))}>
          Back up automatically
        </Checkbox>
        <Button icon={DatabaseBackup} label="Back up now" disabled={busy} onClick={() => run(true, (signal) => api.project.backUp({}, { signal }))} />
      </div>
      <div aria-live="polite">
        {busy && made && <p className="muted">Copying the database…</p>}
        <TaskProblem task={task} />
        {shown.problem !== undefined && <p className="tone-bad">{shown.problem}</p>}
      </div>
      {shown.backups.length === 0 ? (
        <p className="muted">No backups yet.</p>
      ) : (
        <>
          <p>
            {say.plural(shown.backups.length, 'backup')}, {say.bytes(shown.bytes)}.
          </p>
          <ul aria-label="Backups that exist">
            {shown.backups.map(({ at, bytes }) => (
              <li key={at}>
                <time dateTime={at}>{say.when(at)}</time> · {say.bytes(bytes)}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
