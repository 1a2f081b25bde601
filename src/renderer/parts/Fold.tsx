import { ChevronDown, ChevronUp } from 'lucide-react';
import { createContext, type ReactNode, useContext, useState } from 'react';
import { bytes, exact, plural } from './numbers';
import { attempt } from './problem';

const shownLines = 20;
const shownCharacters = 2_400;

/** Splits a long text into its start and the folded rest. */
export function foldText(text: string, lines = shownLines) {
  let end = -1;
  for (let n = 0; n < lines; n++) {
    const next = text.indexOf('\n', end + 1);
    if (next === -1) {
      end = text.length;
      break;
    }
    end = next;
  }
  const cut = Math.min(end, shownCharacters);
  if (cut >= text.length) return { shown: text, hiddenLines: 0, size: text.length };
  let hiddenLines = 1;
  for (let at = text.indexOf('\n', cut + 1); at !== -1; at = text.indexOf('\n', at + 1)) hiddenLines++;
  return { shown: text.slice(0, cut), hiddenLines, size: text.length };
}

/** The searched text. Folds that contain it are open. */
export const Sought = createContext('');

/** Whether a folded part contains the searched text. */
export const useIsSought = (hidden: string): boolean => {
  const words = useContext(Sought);
  return words !== '' && hidden.toLowerCase().includes(words.toLowerCase());
};

interface FoldProps {
  readonly text: string;
  readonly lines?: number | undefined;
  /** Whether the text is only the beginning of a longer one. */
  readonly isCut?: boolean;
  readonly children: (shown: string) => ReactNode;
}

/** Long output: its start, and a button with the number of folded lines. */
export function Fold({ text, lines, isCut = false, children }: FoldProps) {
  const [unfolded, setOpen] = useState(false);
  const folded = foldText(text, lines);
  const open = useIsSought(text.slice(folded.shown.length)) || unfolded;
  if (folded.hiddenLines === 0) return children(text);
  return (
    <>
      {children(open ? text : folded.shown)}
      <button type="button" className="fold inline-row muted small" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? <ChevronUp size={13} aria-hidden /> : <ChevronDown size={13} aria-hidden />}
        {open
          ? 'Show less'
          : `${plural(folded.hiddenLines, 'more line')} · ${isCut ? `the first ${bytes(folded.size)}` : `${bytes(folded.size)} in all`}`}
      </button>
    </>
  );
}

/** Long text that is shown as it is, folded. */
export const FoldedText = ({ text, lines, look = 'verbatim' }: { text: string; lines?: number; look?: string }) => (
  <Fold text={text} lines={lines}>
    {(shown) => <pre className={look}>{shown}</pre>}
  </Fold>
);

/** Details whose content is made when a person unfolds them. */
export function DetailsOnDemand({ className, summary, children }: { className: string; summary: string; children: () => ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <details className={className} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{summary}</summary>
      {open && children()}
    </details>
  );
}

interface CutTextProps {
  /** The text, or its beginning. */
  readonly text: string;
  /** The length of the whole text in characters. */
  readonly length: number;
  readonly lines: number;
  /** Loads the whole text; undefined if it is never cut. */
  readonly whole: (() => Promise<string>) | undefined;
  readonly children: (shown: string) => ReactNode;
}

/** A folded text. If only the beginning was loaded, unfolding loads the rest. */
export function CutText({ text, length, lines, whole, children }: CutTextProps) {
  const [loaded, setLoaded] = useState<string>();
  const isCut = loaded === undefined && length > text.length;
  return (
    <>
      <Fold text={loaded ?? text} lines={lines} isCut={isCut}>
        {children}
      </Fold>
      {isCut && whole && (
        <button type="button" className="fold inline-row muted small" onClick={attempt(() => whole().then(setLoaded))}>
          Load all {exact(length)} characters
        </button>
      )}
    </>
  );
}
