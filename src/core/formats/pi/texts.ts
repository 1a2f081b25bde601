import { isObject, type JsonObject, stringAt } from '../../base/index.js';

/** In these words pi hands a summary to the model (1.5.2, messages.ts); the records hold the summary alone. */
const frames = {
  compaction: ['The conversation history before this point was compacted into the following summary:\n\n<summary>\n', '\n</summary>'],
  branch: ['The following is a summary of a branch that this conversation came back from:\n\n<summary>\n', '</summary>'],
} as const;
type Frame = keyof typeof frames;

export const framed = (frame: Frame, summary: string): string => frames[frame].join(summary);

/** The summary in such words, or the text itself where they are not there. */
export function unframed(frame: Frame, text: string): string {
  const [before, after] = frames[frame];
  return text.startsWith(before) && text.endsWith(after) ? text.slice(before.length, text.length - after.length) : text;
}

/** What a shell line of the person's own becomes for the model. */
export function shellText(message: JsonObject): string {
  const output = stringAt(message, 'output');
  const { exitCode } = message;
  const path = stringAt(message, 'fullOutputPath');
  return [
    `Ran \`${stringAt(message, 'command') ?? ''}\`\n`,
    output ? `\`\`\`\n${output}\n\`\`\`` : '(no output)',
    message.cancelled ? '\n\n(command cancelled)' : typeof exitCode === 'number' && exitCode !== 0 ? `\n\nCommand exited with code ${exitCode}` : '',
    message.truncated && path ? `\n\n[Output truncated. Full output: ${path}]` : '',
  ].join('');
}

/** The text of a system message: its content, then its sections, with blank lines between. */
export function systemText(message: JsonObject): string {
  const content = typeof message.content === 'string' ? [message.content] : textsOf(message.content);
  const sections = isObject(message.sections) ? Object.values(message.sections) : [];
  return [...content, ...sections].filter((text): text is string => typeof text === 'string' && text !== '').join('\n\n');
}

const textsOf = (content: unknown): readonly string[] => (Array.isArray(content) ? content.flatMap((block) => stringAt(block, 'text') ?? []) : []);
