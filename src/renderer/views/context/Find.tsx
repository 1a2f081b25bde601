import { ChevronDown, ChevronUp, Search, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ContextId, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { IconButton, problemOf, say } from '../../parts';
import { useQuery, useReading } from '../../state';
import { clearFound, paintFound } from './painting';

interface FindProps {
  readonly commit: ContextId;
  readonly stop: Stop;
  readonly unsent: boolean;
  /** True if the list contains all entries, so that each hit has a position. */
  readonly isWhole: boolean;
  readonly scroller: React.RefObject<HTMLDivElement | null>;
  /** Receives the text to search for, which may be empty. */
  readonly onWords: (words: string) => void;
  readonly onGo: (entry: number) => void;
  readonly onClose: () => void;
}

/** The search in a context. The engine finds the entries; matches on the screen are highlighted. */
export function Find(props: FindProps) {
  const { onClose } = props;
  const { typed, setTyped, status, hasHits, next, previous } = useFind(props);
  return (
    <search className="find bar">
      <Search size={14} aria-hidden />
      <input
        // biome-ignore lint/a11y/noAutofocus: opened by a key, to type into
        autoFocus
        className="field grow"
        placeholder="Find in this context"
        aria-label="Find in this context"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') (event.shiftKey ? previous : next)();
          if (event.key === 'Escape') onClose();
          event.stopPropagation();
        }}
      />
      <output className="muted" aria-live="polite">
        {status}
      </output>
      <IconButton small icon={ChevronUp} label="Previous hit" keys="Shift Enter" onClick={previous} disabled={!hasHits} />
      <IconButton small icon={ChevronDown} label="Next hit" keys="Enter" onClick={next} disabled={!hasHits} />
      <IconButton small icon={X} label="Close find" keys="Esc" onClick={onClose} />
    </search>
  );
}

/** The state of the search: the typed text, the hits, and the current hit. */
function useFind({ commit, stop, unsent, isWhole, scroller, onWords, onGo }: FindProps) {
  const [typed, setTyped] = useState('');
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => {
      const next = typed.trim().slice(0, 400);
      setWords(next);
      // A single letter matches almost everything, and unfolding for it would make the list jump.
      onWords(next.length > 1 ? next : '');
    }, 180);
    return () => clearTimeout(timer);
  }, [typed, onWords]);
  const query = useQuery(words && isWhole ? `${commit} ${stop} ${unsent} ${words}` : null, (signal) =>
    api.context.find({ id: commit, stop, text: words, ...(unsent && { hidden: true }) }, { signal }),
  );
  const hits = query.status === 'done' ? query.data.hits : undefined;
  const from = useReading((reading) => reading.from);

  const goTo = (index: number) => {
    if (!hits?.length) return;
    const next = (index + hits.length) % hits.length;
    setAt(next);
    onGo(hits[next] ?? 0);
  };
  // The first hit is the next hit after the top of the screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new answer moves the list
  useEffect(() => {
    if (hits?.length)
      goTo(
        Math.max(
          0,
          hits.findIndex((hit) => hit >= from),
        ),
      );
  }, [hits]);

  // Highlighted again after every change of the list, because rows come and go while it scrolls.
  useEffect(() => {
    const element = scroller.current;
    if (element) paintFound(element, [words], element.querySelector('.block.chosen'));
  });
  useEffect(() => clearFound, []);

  const status = words === '' ? '' : query.status === 'failed' ? problemOf(query.error).message : hits ? countOf(at, hits.length) : 'Searching…';
  return { typed, setTyped, status, hasHits: (hits?.length ?? 0) > 0, next: () => goTo(at + 1), previous: () => goTo(at - 1) };
}

const countOf = (at: number, hits: number): string => (hits === 0 ? 'Nothing found' : `${at + 1} of ${say.plural(hits, 'entry', 'entries')}`);
