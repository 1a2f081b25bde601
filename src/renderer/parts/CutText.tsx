import { type ReactNode, useState } from 'react';
import { Fold } from './Fold';
import { exact } from './numbers';
import { notifyProblem } from './problem';

interface CutTextProps {
  /** The text, or its beginning. */
  readonly text: string;
  /** The characters of the whole text. */
  readonly length: number;
  readonly lines: number;
  /** Loads the whole text; undefined if it is never cut. */
  readonly whole: (() => Promise<string>) | undefined;
  readonly children: (shown: string) => ReactNode;
}

/** A folded text. A text that was cut on its way loads when it is asked for. */
export function CutText({ text, length, lines, whole, children }: CutTextProps) {
  const [loaded, setLoaded] = useState<string>();
  const isCut = loaded === undefined && length > text.length;
  return (
    <>
      <Fold text={loaded ?? text} lines={lines}>
        {children}
      </Fold>
      {isCut && whole && (
        <button type="button" className="fold" onClick={() => void whole().then(setLoaded).catch(notifyProblem)}>
          Load all {exact(length)} characters
        </button>
      )}
    </>
  );
}
