import { Play } from 'lucide-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import type { AnalysisSchema } from '../../../core/contract/index.js';
import { Button } from '../../parts';
import { completed, suggestionsFor } from './statement';

/** The field of the statement, with what can complete the word at the caret. Tab completes, Ctrl or Cmd with Enter runs. */
export function Editor(props: {
  text: string;
  views: readonly AnalysisSchema[];
  isRunning: boolean;
  onText: (text: string) => void;
  onRun: () => void;
}) {
  const { text, views, isRunning, onText, onRun } = props;
  const [caret, setCaret] = useState(0);
  const [isHidden, setHidden] = useState(true);
  const field = useRef<HTMLTextAreaElement>(null);
  const suggestions = isHidden ? [] : suggestionsFor(text, caret, views);
  const complete = (suggestion: string): void => {
    const next = completed(text, caret, suggestion);
    onText(next.text);
    setCaret(next.caret);
    setHidden(true);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(next.caret, next.caret);
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const [first] = suggestions;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onRun();
    else if (event.key === 'Tab' && !event.shiftKey && first) complete(first.text);
    else if (event.key === 'Escape' && first) setHidden(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="sql-editor gap-8 rigid line-below">
      <textarea
        ref={field}
        className="field mono"
        data-filter
        aria-label="SQL statement"
        aria-describedby="sql-keys"
        rows={Math.min(14, Math.max(4, text.split('\n').length))}
        spellCheck={false}
        value={text}
        onKeyDown={onKeyDown}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onChange={(event) => {
          onText(event.target.value);
          setCaret(event.target.selectionStart);
          setHidden(false);
        }}
      />
      {suggestions.length > 0 && (
        <ul className="sql-suggestions wrap gap-4" aria-label="Completions">
          {suggestions.map((one) => (
            <li key={one.text}>
              <button type="button" tabIndex={-1} title={one.what} onClick={() => complete(one.text)}>
                <code>{one.text}</code>
              </button>
            </li>
          ))}
        </ul>
      )}
      <div className="row">
        <Button look="primary" icon={Play} label="Run" onClick={onRun} disabled={isRunning || text.trim() === ''} />
        <span id="sql-keys" className="muted small">
          Ctrl/Cmd Enter runs, Tab completes. A statement only reads.
        </span>
      </div>
    </div>
  );
}
