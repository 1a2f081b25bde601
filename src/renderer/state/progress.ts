import { useEffect, useState } from 'react';
import { api } from '../client';
import type { Query } from './query';

/** The interval between two questions about the progress, in milliseconds. Answers that come sooner need no progress. */
const everyMs = 1_000;

/** How much of a project was read, in words, while a question over all sessions waits for the rest; undefined if it waits for nothing. */
export function useAnalysisProgress({ status }: Query<unknown>): string | undefined {
  const [words, setWords] = useState<string>();
  const isWaiting = status === 'loading';
  useEffect(() => {
    if (!isWaiting) return;
    const ask = new AbortController();
    const timer = setInterval(() => {
      api.analysis.progress({}, { signal: ask.signal }).then(
        ({ done, total }) => {
          if (!ask.signal.aborted) setWords(done < total ? `${Math.floor((done / total) * 100)} % of the commits are counted` : undefined);
        },
        // The question itself says what is wrong.
        () => {},
      );
    }, everyMs);
    return () => {
      clearInterval(timer);
      ask.abort();
      setWords(undefined);
    };
  }, [isWaiting]);
  return words;
}
