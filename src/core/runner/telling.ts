import type { ReplyPart } from '../contract/index.js';
import type { Diary } from './diary.js';
import type { Happening } from './jobs.js';

const kindOf: Readonly<Record<string, Happening['kind'] | undefined>> = {
  text: 'text',
  thinking: 'thinking',
  tool_call: 'call',
  tool_result: 'result',
  notice: 'notice',
  waiting: 'waiting',
  usage: 'usage',
};

/** Reports a part of a reply, if the log of a job has an event for it. */
export function tellPart(tell: Diary['tell'], { kind: said, delta, toolName }: Omit<ReplyPart, 'sample'>): void {
  const kind = kindOf[said];
  if (kind) tell({ kind, text: delta, ...(toolName !== undefined && { toolName }) });
}

/** Reports a text of a delegated turn when it is complete, because several such turns run at the same time. */
export function inWhole(tell: Diary['tell']): { readonly tell: Diary['tell']; end(): void } {
  let words: Happening | undefined;
  const end = (): void => {
    if (words) tell(words);
    words = undefined;
  };
  return {
    end,
    tell(happening) {
      const isPiece = happening.kind === 'text' || happening.kind === 'thinking';
      if (!isPiece || (words && words.kind !== happening.kind)) end();
      if (!isPiece) return tell(happening);
      words = { ...happening, text: (words?.text ?? '') + happening.text };
    },
  };
}
