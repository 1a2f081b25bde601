import { ShieldCheck } from 'lucide-react';
import { api } from '../client';
import { Button, notifyProblem } from '../parts';
import { followAddress, useProject } from '../state';

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
      {!trusted && (
        <Button small icon={ShieldCheck} onClick={trust}>
          Trust this project
        </Button>
      )}
    </section>
  );
}
