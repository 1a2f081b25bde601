import { ChevronDown, ChevronUp, Search, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ContextId, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { IconButton, problemOf, say } from '../../parts';
import { useQuery, useReading } from '../../state';
import { clearFound, paintFound } from './painting';

/** Words in this context: found by the engine, painted where they are on screen. */
export function Find(props: {
  commit: ContextId;
  stop: Stop;
  unsent: boolean;
  scroller: React.RefObject<HTMLDivElement | null>;
  onWords: (words: string) => void;
  onGo: (entry: number) => void;
  onClose: () => void;
}) {
  const { commit, stop, unsent, scroller, onWords, onGo, onClose } = props;
  const [typed, setTyped] = useState('');
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => {
      const next = typed.trim().slice(0, 400);
      setWords(next);
      // A letter is in everything: unfolding for it would only make the list jump.
      onWords(next.length > 1 ? next : '');
    }, 180);
    return () => clearTimeout(timer);
  }, [typed, onWords]);
  const query = useQuery(words ? `${commit} ${stop} ${unsent} ${words}` : null, (signal) =>
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
  // The first hit is the next one from where one reads.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new answer moves, scrolling does not
  useEffect(() => {
    if (hits?.length)
      goTo(
        Math.max(
          0,
          hits.findIndex((hit) => hit >= from),
        ),
      );
  }, [hits]);

  // Painted again after every change of the list: rows come and go while it scrolls.
  useEffect(() => {
    const element = scroller.current;
    if (element) paintFound(element, words, element.querySelector('.block.chosen'));
  });
  useEffect(() => clearFound, []);

  return (
    <search className="find">
      <Search size={14} aria-hidden />
      <input
        // biome-ignore lint/a11y/noAutofocus: opened by a key to be typed into
        autoFocus
        className="field grow"
        placeholder="Find in this context"
        aria-label="Find in this context"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') goTo(at + (event.shiftKey ? -1 : 1));
          if (event.key === 'Escape') onClose();
          event.stopPropagation();
        }}
      />
      <output className="muted" aria-live="polite">
        {words === ''
          ? ''
          : query.status === 'failed'
            ? problemOf(query.error).message
            : hits
              ? hits.length
                ? `${at + 1} of ${say.plural(hits.length, 'entry', 'entries')}`
                : 'Nothing found'
              : 'Searching…'}
      </output>
      <IconButton small icon={ChevronUp} label="Previous hit" keys="Shift Enter" onClick={() => goTo(at - 1)} disabled={!hits?.length} />
      <IconButton small icon={ChevronDown} label="Next hit" keys="Enter" onClick={() => goTo(at + 1)} disabled={!hits?.length} />
      <IconButton small icon={X} label="Close find" keys="Esc" onClick={onClose} />
    </search>
  );
}
