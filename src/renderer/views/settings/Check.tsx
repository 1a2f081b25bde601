import { ShieldCheck, Wrench } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../client';
import { Button, say, TaskProblem } from '../../parts';
import { useTask } from '../../state';

type Checked = Awaited<ReturnType<typeof api.project.check>>;

const shownProblems = 200;

/** Checks the whole project, lists the problems, and repairs them. */
export function Check({ onChanged }: { onChanged: () => void }) {
  const [task, start] = useTask<Checked>();
  const [repairs, setRepairs] = useState(false);
  const check = (repair: boolean) => {
    setRepairs(repair);
    return start((signal) => api.project.check(repair ? { repair } : {}, { signal }));
  };
  return (
    <section aria-label="Check">
      <h3>Check</h3>
      <p className="muted">
        Verifies every object against its hash, every commit against its parent and content, and every imported file against its source.
      </p>
      <div className="storage-actions row wrap">
        <Button icon={ShieldCheck} label="Check everything" disabled={task.state === 'running'} onClick={() => void check(false)} />
        {task.state === 'running' && <Button small label="Stop waiting" onClick={task.stop} />}
      </div>
      <div aria-live="polite">
        {task.state === 'running' && <p className="muted">{repairs ? 'Repairing' : 'Checking'}…</p>}
        <TaskProblem task={task} />
        {task.state === 'done' && (
          <>
            <p className={task.result.ok ? 'tone-good' : 'tone-bad'}>
              {task.result.ok ? 'No problems found: ' : `${say.plural(task.result.problems.length, 'problem')} in `}
              {Object.entries(task.result.checked)
                .map(([what, count]) => `${say.exact(count)} ${what}`)
                .join(', ')}
              .
            </p>
            {task.result.problems.length > 0 && (
              <ul className="storage-problems" aria-label="Problems">
                {task.result.problems.slice(0, shownProblems).map(({ kind, id, message, repaired: sound }) => (
                  <li key={`${kind} ${id} ${message}`}>
                    <span className="badge">{kind}</span> <span className="mono">{id}</span> {message}
                    {sound !== undefined && <b className={sound ? 'tone-good' : 'tone-bad'}>{sound ? ' Repaired.' : ' Not repaired.'}</b>}
                  </li>
                ))}
              </ul>
            )}
            {task.result.problems.length > shownProblems && (
              <p className="muted">
                And {say.plural(task.result.problems.length - shownProblems, 'more problem', 'more problems')}. `stemma fsck --json` lists all.
              </p>
            )}
            {!repairs && !task.result.ok && (
              <Button
                icon={Wrench}
                label="Repair"
                onClick={() => void check(true).then(onChanged)}
                title="Repair rebuilds everything that can be derived from intact data, and lists the rest"
              />
            )}
          </>
        )}
      </div>
    </section>
  );
}
