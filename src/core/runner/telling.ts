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

/** Tells a part of a reply, if the log of a job has a word for it. */
export function tellPart(diary: Diary, { kind: said, delta, toolName }: ReplyPart): void {
  const kind = kindOf[said];
  if (kind) diary.tell({ kind, text: delta, ...(toolName !== undefined && { toolName }) });
}
