import { useEffect, useState } from 'react';
import { type FileLine, fileLines, stretchesOf } from './file-lines';
import { plural } from './numbers';

const signs = { same: ' ', removed: '−', added: '+' } as const;
const names = { same: '', removed: 'removed: ', added: 'added: ' } as const;

/** Files longer than this are shown as removed and added, because comparing them takes too long. */
const effort = { scanLimit: 5_000, timeout: 200 };

/** The differences of two states of a file, line by line. */
export function FileLines({ before, after }: { before: string; after: string }) {
  const [lines, setLines] = useState<readonly FileLine[]>();
  useEffect(() => {
    let isCurrent = true;
    void import('@codemirror/merge').then(({ diff }) => {
      if (isCurrent) setLines(fileLines(before, after, (a, b) => diff(a, b, effort)));
    });
    return () => {
      isCurrent = false;
    };
  }, [before, after]);
  if (!lines) return null;
  if (lines.every(({ op }) => op === 'same')) return <p className="muted">Both states are equal.</p>;
  return (
    <div className="file-diff mono small">
      {stretchesOf(lines).map(({ folded, lines: own }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines do not change
        <div key={n}>
          {folded ? (
            <p className="file-skip muted">{plural(own.length, 'equal line')}</p>
          ) : (
            own.map(({ op, text, a, b }) => (
              <div key={`${a} ${b}`} className={`file-line ${op}`}>
                <span className="file-number muted">{a}</span>
                <span className="file-number muted">{b}</span>
                <span aria-hidden>{signs[op]}</span>
                <code>
                  <span className="unseen">{names[op]}</span>
                  {text}
                </code>
              </div>
            ))
          )}
        </div>
      ))}
    </div>
  );
}
