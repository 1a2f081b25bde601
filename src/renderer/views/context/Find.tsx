import { ChevronDown, ChevronUp, Search, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { api } from '../../client';
import { describeProblem, IconButton, Input, say } from '../../parts';
import { useReading, useRested } from '../../state';
import { clearFound, paintFound } from './painting';
import type { ReaderContext } from './useReader';

interface FindProps {
  readonly shown: ReaderContext;
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
    <search className="find bar gap-6">
      <Search size={14} aria-hidden />
      <Input
        // Opened by a key, to type into.
        autoFocus
        className="grow"
        placeholder="Find in this context"
        label="Find in this context"
        value={typed}
        onChange={setTyped}
        onKeyDown={(event) => {
          if (event.key === 'Enter') (event.shiftKey ? previous : next)();
          if (event.key === 'Escape') onClose();
          event.stopPropagation();
        }}
      />
      <output className="muted small rigid" aria-live="polite">
        {status}
      </output>
      <IconButton small icon={ChevronUp} label="Previous hit" keys="Shift Enter" onClick={previous} disabled={!hasHits} />
      <IconButton small icon={ChevronDown} label="Next hit" keys="Enter" onClick={next} disabled={!hasHits} />
      <IconButton small icon={X} label="Close find" keys="Esc" onClick={onClose} />
    </search>
  );
}

function useFind({ shown, scroller, onWords, onGo }: FindProps) {
  const [typed, setTyped] = useState('');
  const words = useRested(typed.trim().slice(0, 400), 180);
  const [at, setAt] = useState(0);
  // A single letter matches almost everything, and unfolding for it would make the list jump.
  useEffect(() => onWords(words.length > 1 ? words : ''), [words, onWords]);
  // Only a list of all entries has a position for each hit.
  const { hits, isDone, problem } = useHits(shown.outline.isPart ? '' : words, shown);
  const from = useReading((reading) => reading.from);

  const goTo = (index: number) => {
    if (!hits?.length) return;
    const next = (index + hits.length) % hits.length;
    setAt(next);
    onGo(hits[next] ?? 0);
  };
  // The first hit is the next hit after the top of the screen. Hits that are found later do not move the list.
  const isFound = hits !== undefined && (isDone || hits.some((hit) => hit >= from));
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the first hits of a search move the list
  useEffect(() => {
    if (!isFound || hits.length === 0) return;
    const next = hits.findIndex((hit) => hit >= from);
    goTo(Math.max(0, next));
  }, [words, isFound]);

  // Highlighted again after every change of the list, because rows come and go while it scrolls.
  useEffect(() => {
    const element = scroller.current;
    if (element) paintFound(element, [words], element.querySelector('.block.chosen'));
  });
  useEffect(() => clearFound, []);

  const found = hits && (isDone || hits.length > 0) ? countOf(at, hits.length) + (isDone ? '' : ' so far') : 'Searching…';
  const status = words === '' ? '' : problem === undefined ? found : describeProblem(problem).message;
  return { typed, setTyped, status, hasHits: (hits?.length ?? 0) > 0, next: () => goTo(at + 1), previous: () => goTo(at - 1) };
}

/** The entries of a long context that are searched at a time: few at first, so that a hit is soon found. */
const piece = { first: 500, next: 20_000 };

interface Hits {
  /** Undefined before the first piece is searched. */
  readonly hits?: readonly number[];
  readonly isDone?: boolean;
  readonly problem?: unknown;
}

/** The positions of the entries that contain the words. They arrive piece by piece. */
function useHits(words: string, { commit, stop, unsent }: ReaderContext): Hits {
  const [found, setFound] = useState<Hits>({});
  useEffect(() => {
    setFound({});
    if (words === '') return;
    const controller = new AbortController();
    const { signal } = controller;
    void (async () => {
      const query = { id: commit, stop, text: words, ...(unsent && { hidden: true }) };
      let hits: readonly number[] = [];
      for (let [offset, total] = [0, 1]; offset < total && !signal.aborted; ) {
        const limit = offset === 0 ? piece.first : piece.next;
        const next = await api.context.find({ ...query, offset, limit }, { signal });
        offset += limit;
        total = next.total;
        hits = [...hits, ...next.hits];
        if (!signal.aborted) setFound({ hits, isDone: offset >= total });
      }
    })().catch((problem: unknown) => {
      if (!signal.aborted) setFound({ problem });
    });
    return () => controller.abort();
  }, [words, commit, stop, unsent]);
  return found;
}

const countOf = (at: number, hits: number): string => (hits === 0 ? 'Nothing found' : `${at + 1} of ${say.plural(hits, 'entry', 'entries')}`);
