import { type ReactNode, useState } from 'react';
import { Fold } from './Fold';
import { exact } from './numbers';
import { attempt } from './problem';

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
      <Fold text={loaded ?? text} lines={lines}>
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
