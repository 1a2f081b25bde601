import { useState } from 'react';
import { Button, ProblemLine, problemOf, Sheet } from '../parts';
import { dismiss, type TextSheet as TextQuestion } from '../state';

/** Asks for one text and saves it. */
export function TextSheet({ title, label, hint, text: first, action, isLong, save }: TextQuestion) {
  const [text, setText] = useState(first);
  const [problem, setProblem] = useState<string>();
  const common = { 'aria-label': label, value: text };
  return (
    <Sheet title={title} onClose={dismiss}>
      <form
        className="text-form"
        onSubmit={(event) => {
          event.preventDefault();
          save(text.trim()).then(dismiss, (error: unknown) => setProblem(problemOf(error).message));
        }}
      >
        {isLong ? (
          <textarea className="field" rows={10} {...common} onChange={(event) => setText(event.target.value)} />
        ) : (
          <input className="field" {...common} onChange={(event) => setText(event.target.value)} />
        )}
        <p className="muted">{hint}</p>
        {problem && <ProblemLine>{problem}</ProblemLine>}
        <Button type="submit" look="primary">
          {action}
        </Button>
      </form>
    </Sheet>
  );
}
