import { useEffect, useState } from 'react';
import { type FileLine, fileLines, hunksOf } from './file-lines';
import { plural } from './numbers';

const signs = { same: ' ', removed: '−', added: '+' } as const;
const names = { same: '', removed: 'removed: ', added: 'added: ' } as const;

/** The differences of two states of a file, line by line. */
export function FileLines({ before, after }: { before: string; after: string }) {
  const lines = useLines(before, after);
  if (!lines) return null;
  if (lines.every(({ op }) => op === 'same')) return <p className="muted">Both states are equal.</p>;
  const { hunks, rest } = hunksOf(lines);
  return (
    <div className="file-diff mono small">
      {hunks.map(({ skipped, lines: own }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines do not change
        <div key={n}>
          {skipped > 0 && <p className="file-skip muted">{plural(skipped, 'equal line')}</p>}
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
      {rest > 0 && <p className="file-skip muted">{plural(rest, 'equal line')}</p>}
    </div>
  );
}

/** Files longer than this are shown as removed and added, because comparing them takes too long. */
const effort = { scanLimit: 5_000, timeout: 200 };

function useLines(before: string, after: string): readonly FileLine[] | undefined {
  const [lines, setLines] = useState<readonly FileLine[]>();
  useEffect(() => {
    let wanted = true;
    void import('@codemirror/merge').then(({ diff }) => {
      if (wanted) setLines(fileLines(before, after, (a, b) => diff(a, b, effort)));
    });
    return () => {
      wanted = false;
    };
  }, [before, after]);
  return lines;
}
