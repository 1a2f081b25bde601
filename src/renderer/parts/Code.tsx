import { memo } from 'react';
import { useQuery } from '../state';
import { highlight } from './highlight';

/** Larger blocks stay plain, because highlighting them is slow. */
const colorLimit = 12_000;

/** A code block. The text appears at once; highlighting follows if the language is known and the block is small. */
export const Code = memo(function Code({ text, language }: { text: string; language?: string | undefined }) {
  const isColored = language && text.length <= colorLimit;
  const { data: lines } = useQuery(isColored ? `${language}\n${text}` : null, () => highlight(text, language ?? ''));
  return (
    <pre className="code">
      <code>
        {lines
          ? lines.map((line, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines never change
              <span key={n}>
                {line.map((token, m) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the tokens never change
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
