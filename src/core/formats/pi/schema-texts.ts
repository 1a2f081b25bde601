import { isObject, type JsonObject, stringAt } from '../../base/index.js';

/** The frames in which pi sends summaries to the model (1.5.2, messages.ts). Records hold only the summary. */
const frames = {
  compaction: ['The conversation history before this point was compacted into the following summary:\n\n<summary>\n', '\n</summary>'],
  branch: ['The following is a summary of a branch that this conversation came back from:\n\n<summary>\n', '</summary>'],
} as const;
type Frame = keyof typeof frames;

/** The summary in the frame in which pi sends it to the model. */
export const framed = (frame: Frame, summary: string): string => frames[frame].join(summary);

/** The summary without its frame, or the text itself if it has no frame. */
export function unframed(frame: Frame, text: string): string {
  const [before, after] = frames[frame];
  return text.startsWith(before) && text.endsWith(after) ? text.slice(before.length, text.length - after.length) : text;
}

/** The text that the model gets for a shell line that the person ran. */
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

/** The text of a system message: its content, then its sections, separated by blank lines. */
export function systemText(message: JsonObject): string {
  const content = typeof message.content === 'string' ? [message.content] : textsOf(message.content);
  const sections = isObject(message.sections) ? Object.values(message.sections) : [];
  return [...content, ...sections].filter((text): text is string => typeof text === 'string' && text !== '').join('\n\n');
}

const textsOf = (content: unknown): readonly string[] => (Array.isArray(content) ? content.flatMap((block) => stringAt(block, 'text') ?? []) : []);
