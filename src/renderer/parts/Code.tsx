import { memo, useEffect, useState } from 'react';
import { type ColoredLine, highlight } from './highlight';

/** Larger blocks stay plain: coloring them would cost more than it tells. */
const colorLimit = 12_000;

/** A block of code, colored when its language is known and it is small; the text is there at once in any case. */
export const Code = memo(function Code({ text, language }: { text: string; language?: string | undefined }) {
  const [lines, setLines] = useState<readonly ColoredLine[]>();
  useEffect(() => {
    setLines(undefined);
    if (!language || text.length > colorLimit) return;
    let wanted = true;
    highlight(text, language).then(
      (colored) => wanted && setLines(colored),
      () => {},
    );
    return () => {
      wanted = false;
    };
  }, [text, language]);
  return (
    <pre className="code">
      <code>
        {lines
          ? lines.map((line, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text that does not change
              <span key={n}>
                {line.map((token, m) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: tokens of a line that does not change
                  <span key={m} className="ink" style={token.style}>
                    {token.content}
                  </span>
                ))}
                {n < lines.length - 1 && '\n'}
              </span>
            ))
          : text}
      </code>
    </pre>
  );
});
