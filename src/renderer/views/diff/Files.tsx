import { useEffect, useState } from 'react';
import type { ComparedFile } from '../../../core/contract/index.js';
import { Empty, say } from '../../parts';
import { type FileLine, fileLines, hunksOf } from './lines';

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
              className={`row selectable${one === file ? ' chosen' : ''}`}
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

/** The differences of one file, line by line. */
function OneFile({ file: { path, a, b } }: { file: ComparedFile }) {
  const [before, after] = [a === null ? '' : a.content, b === null ? '' : b.content];
  const lines = useLines(before, after);
  return (
    <section className="diff-file stack overflows" aria-label={path}>
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
      {lines && <Lines lines={lines} />}
    </section>
  );
}

const signs = { same: ' ', removed: '−', added: '+' } as const;
const names = { same: '', removed: 'removed: ', added: 'added: ' } as const;

function Lines({ lines }: { lines: readonly FileLine[] }) {
  const { hunks, rest } = hunksOf(lines);
  return (
    <div className="file-diff mono small">
      {hunks.map(({ skipped, lines: own }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines do not change
        <div key={n}>
          {skipped > 0 && <p className="file-skip muted">{say.plural(skipped, 'equal line')}</p>}
          {own.map(({ op, text, a, b }) => (
            <div key={`${a} ${b}`} className={`file-line ${op}`}>
              <span className="file-number muted">{a}</span>
              <span className="file-number muted">{b}</span>
              <span aria-hidden>{signs[op]}</span>
              <code>
                <span className="unseen">{names[op]}</span>
                {text}
              </code>
            </div>
          ))}
        </div>
      ))}
      {rest > 0 && <p className="file-skip muted">{say.plural(rest, 'equal line')}</p>}
    </div>
  );
}

/** Files longer than this are shown as removed and added, because comparing them takes too long. */
const effort = { scanLimit: 5_000, timeout: 200 };

/** The lines of two texts; undefined until they are compared, or if a text is unknown. */
function useLines(before: string | null, after: string | null): readonly FileLine[] | undefined {
  const [lines, setLines] = useState<readonly FileLine[]>();
  useEffect(() => {
    let wanted = true;
    if (before === null || after === null) return;
    void import('@codemirror/merge').then(({ diff }) => {
      if (wanted) setLines(fileLines(before, after, (a, b) => diff(a, b, effort)));
    });
    return () => {
      wanted = false;
    };
  }, [before, after]);
  return lines;
}
