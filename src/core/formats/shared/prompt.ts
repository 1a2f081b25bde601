// Which entry of a turn is its prompt: what a person typed, not what the runtime added in the role of the user.
import type { Kind, Role } from '../../contract/index.js';

/** The fields of an entry by which a prompt is recognized. `head` is the beginning of its text. */
export interface PromptFields {
  readonly role: Role;
  readonly kind: Kind;
  readonly head?: string | undefined;
  readonly hidden?: boolean | undefined;
}

/** Texts in the role of the user that a runtime adds: reminders, command output, caveats, the environment, interruptions. */
const added = new RegExp(
  `^\\s*(?:<(?:${[
    // Claude Code
    'local-command-|bash-std|command-contents|system-reminder|ide_',
    // Codex
    'environment_context|user_instructions|permissions|turn_aborted|skill\\b|skills_instructions|subagent_notification|user_shell_command',
    'collaboration_mode|app-context|model_switch|personality_spec|INSTRUCTIONS|apps_instructions|plugins_instructions',
    // Gemini CLI
    'session_context',
  ].join('|')})|Caveat: The messages below were generated|\\[Request interrupted by user|# AGENTS\\.md instructions)`,
);
/** A slash command or shell line that a person typed, as Claude Code records it. */
const command = /^\s*<(?:command-name|command-message|bash-input)>/;
/** The text with which Claude Code closes a turn without an answer, such as a turn that ends with `/exit`. */
const closingWord = 'No response requested.';
/** Whether an entry only closes a turn without an answer. */
export const isClosingWord = ({ role, head }: Pick<PromptFields, 'role' | 'head'>): boolean => role === 'assistant' && head === closingWord;

/** The prompt's position in a turn: the first text or image of a person, or a slash command if no typed prompt follows before the reply. */
export function promptAt(entries: readonly PromptFields[]): number | undefined {
  let found: number | undefined;
  for (const [at, entry] of entries.entries()) {
    const { role, kind, head = '', hidden } = entry;
    if (hidden) continue;
    if (role === 'assistant' && !isClosingWord(entry) && found !== undefined) break;
    if (role !== 'user' || (kind !== 'text' && kind !== 'image') || added.test(head)) continue;
    if (!command.test(head)) return at;
    found ??= at;
  }
  return found;
}

const tagIn = (text: string, name: string): string | undefined => new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(text)?.[1]?.trim();

/** The text that a person typed and that the agent wrapped in tags: a slash command or a shell line. Undefined for other texts. */
export function commandIn(text: string): string | undefined {
  if (!command.test(text)) return undefined;
  const shell = tagIn(text, 'bash-input');
  if (shell !== undefined) return `! ${shell}`;
  const name = tagIn(text, 'command-name') ?? tagIn(text, 'command-message');
  return name === undefined ? undefined : `${name.startsWith('/') ? '' : '/'}${name} ${tagIn(text, 'command-args') ?? ''}`.trim();
}

/** The output of a command that the agent ran itself, without its tags. Undefined for other texts. */
export function commandOutputIn(text: string): string | undefined {
  const found = /^\s*<(local-command-std(?:out|err)|bash-std(?:out|err))>/.test(text);
  return found ? text.replace(/<\/?(?:local-command|bash)-std(?:out|err)>/g, '').trim() : undefined;
}
