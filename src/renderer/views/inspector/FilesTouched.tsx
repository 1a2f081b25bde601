import { FileText } from 'lucide-react';
import type { RowFacts } from '../../../core/contract/index.js';
import { inFolder, say } from '../../parts';
import { type ShownCommit, usePlace } from '../../state';

/** The files that the tools of a commit read or changed, as paths in its repository. `facts` are undefined until they are loaded. */
export function FilesTouched({ project, commit, facts }: { project: string; commit: ShownCommit; facts: RowFacts | undefined }) {
  const folder = usePlace(project, commit.id).data?.repository ?? null;
  if (!facts || facts.files === 0) return null;
  const { files, touched } = facts;
  return (
    <section className="commit-list" aria-label="Files touched">
      <h3>
        Files touched <span className="muted">{say.exact(files)}</span>
      </h3>
      <ul className="small">
        {touched.map(({ path, how, added, removed }) => {
          const [name, within] = split(inFolder(path, folder));
          return (
            <li key={path} className="row gap-6" title={path}>
              <FileText size={12} aria-hidden />
              <span className="ellipsis">{name}</span>
              <span className="muted ellipsis grow">{within}</span>
              {added === undefined && removed === undefined ? (
                <span className="muted">{how}</span>
              ) : (
                <span className="row gap-6" title={`${how}: ${linesWords(added, removed)}`}>
                  {added !== undefined && <span className="tone-good">+{say.exact(added)}</span>}
                  {removed !== undefined && <span className="tone-bad">−{say.exact(removed)}</span>}
                </span>
              )}
            </li>
          );
        })}
      </ul>
      {files > touched.length && <p className="muted">And {say.plural(files - touched.length, 'more file')}.</p>}
    </section>
  );
}

const linesWords = (added: number | undefined, removed: number | undefined): string =>
  [added !== undefined && `${say.plural(added, 'line')} added`, removed !== undefined && `${say.plural(removed, 'line')} removed`]
    .filter(Boolean)
    .join(', ');

function split(path: string): readonly [name: string, folder: string] {
  const at = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  return [path.slice(at + 1), path.slice(0, Math.max(0, at))];
}
