import { useState } from 'react';
import type { ComparedFile } from '../../../core/contract/index.js';
import { Empty, FileLines } from '../../parts';

/** The files that both branches left behind differently: a list, and the differences of the chosen file. */
export function ComparedFiles({ files }: { files: readonly ComparedFile[] }) {
  const [chosen, setChosen] = useState(0);
  const file = files[Math.min(chosen, files.length - 1)];
  if (!file)
    return (
      <Empty title="No differing files">
        Files that the two branches left behind differently appear here. No tool call since they parted wrote or changed one.
      </Empty>
    );
  return (
    <div className="diff-files">
      <ul className="diff-file-list overflows" aria-label="Files">
        {files.map((one, n) => (
          <li key={one.path}>
            <button
              type="button"
              className={`row selectable wide${one === file ? ' chosen' : ''}`}
              aria-current={one === file}
              onClick={() => setChosen(n)}
            >
              <span className="ellipsis grow mono" title={one.path}>
                {one.path.split(/[/\\]/).at(-1)}
              </span>
              <span className="muted small">{sideWords(one)}</span>
            </button>
          </li>
        ))}
      </ul>
      <OneFile key={file.path} file={file} />
    </div>
  );
}

const sideWords = ({ a, b }: ComparedFile): string => (a === null ? 'only right' : b === null ? 'only left' : 'differs');

function OneFile({ file: { path, a, b } }: { file: ComparedFile }) {
  const [before, after] = [a === null ? '' : a.content, b === null ? '' : b.content];
  return (
    <section className="diff-file stack gap-8 overflows" aria-label={path}>
      <h3 className="mono wrap">{path}</h3>
      {a === null && <p className="muted">The left branch never read or wrote this file.</p>}
      {b === null && <p className="muted">The right branch never read or wrote this file.</p>}
      {(before === null || after === null) && (
        <p className="muted">
          The content {before === null ? (after === null ? 'on both sides' : 'on the left') : 'on the right'} is unknown: the agent never read it, or
          an edit did not match it.
        </p>
      )}
      {[a, b].some((side) => side?.known === 'part') && <p className="muted">A side is known in part: its agent never read the rest of the file.</p>}
      {before !== null && after !== null && <FileLines before={before} after={after} />}
    </section>
  );
}
