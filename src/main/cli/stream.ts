import { randomUUID } from 'node:crypto';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject, parseJson } from '../../core/base/index.js';
import { makeFolders, privateFile } from '../../core/files/index.js';
import { findDataDir } from '../launch/index.js';

/** Turns a line of an agent's output into lines of a transcript; undefined for a line without content of the session. */
export type StreamReader = (line: string) => { readonly sessionId: string; readonly lines: string } | undefined;

/** Opens a transcript that is written from an agent's standard output while the agent runs, in a new folder below Stemma's own. */
export function streamTranscript(read: StreamReader) {
  const folder = join(findDataDir(), 'streams', randomUUID());
  makeFolders(folder);
  /** The beginning of a line whose end has not arrived yet. */
  let pending: Buffer[] = [];
  return {
    /** The folder that capture follows. */
    folder,
    /** Adds the next part of the output, which may end inside a line. */
    take: (part: Buffer): void => {
      const end = part.lastIndexOf(0x0a) + 1;
      if (end === 0) return void pending.push(part);
      const lines = Buffer.concat([...pending, part.subarray(0, end)]).toString('utf8');
      pending = [part.subarray(end)];
      for (const line of lines.split('\n')) {
        const found = read(line);
        if (found && /^[\w-]{1,100}$/.test(found.sessionId))
          appendFileSync(join(folder, `${found.sessionId}.jsonl`), found.lines, { mode: privateFile });
      }
    },
    /** Removes the transcript after the project has stored its content. */
    remove: (): void => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * Reads Claude Code's `--output-format stream-json`, used if `--no-session-persistence` makes it write no session. The messages are transcript
 * messages without parents: each follows the previous message of the conversation or of the same subagent. The output does not repeat the prompt of
 * the command line, so the prompt is added first.
 */
export function claudeStream(args: readonly string[], cwd: string, now: () => Date = () => new Date()): StreamReader | undefined {
  const isStream = args.some((word, at) => word === '--output-format=stream-json' || (word === 'stream-json' && args[at - 1] === '--output-format'));
  if (!isStream || !args.includes('--no-session-persistence')) return undefined;
  const last = new Map<string, string>();
  let prompt = promptIn(args);
  const record = (event: JsonObject, thread: string, more: object, uuid: string): string => {
    const about = { isSidechain: thread !== '', cwd, sessionId: event.session_id, timestamp: now().toISOString() };
    const text = `${JSON.stringify({ parentUuid: last.get(thread) ?? null, ...about, ...more, uuid })}\n`;
    last.set(thread, uuid);
    return text;
  };
  return (line) => {
    const event = line.startsWith('{') ? parseJson(line) : undefined;
    if (!isObject(event) || typeof event.session_id !== 'string') return undefined;
    const { type, uuid, message, tool_use_result: toolUseResult } = event;
    const thread = typeof event.parent_tool_use_id === 'string' ? event.parent_tool_use_id : '';
    let lines = '';
    if (prompt !== undefined) lines += record(event, '', { type: 'user', message: { role: 'user', content: prompt } }, randomUUID());
    prompt = undefined;
    if ((type === 'assistant' || type === 'user') && typeof uuid === 'string')
      lines += record(event, thread, { type, message, ...(toolUseResult !== undefined && { toolUseResult }) }, uuid);
    // Marks the end of the turn, so that capture commits it at once.
    else if (type === 'result') lines += record(event, '', { type: 'system', subtype: 'turn_duration', isMeta: true }, randomUUID());
    return lines === '' ? undefined : { sessionId: event.session_id, lines };
  };
}

/** Options of Claude Code that take no value, so that the word after them can be the prompt. */
const switches = new Set(
  '-p --print -c --continue -d --verbose --no-session-persistence --dangerously-skip-permissions --include-partial-messages --fork-session --ide --bare --strict-mcp-config --disable-slash-commands'.split(
    ' ',
  ),
);

/** The prompt: the word after `-p`, or another word that is no option and no value of one; undefined if the prompt comes on standard input. */
function promptIn(args: readonly string[]): string | undefined {
  const isWord = (word: string | undefined): word is string => word !== undefined && word !== '' && !word.startsWith('-');
  const at = args.findIndex((word) => word === '-p' || word === '--print');
  if (at < 0) return undefined;
  if (isWord(args[at + 1])) return args[at + 1];
  const end = args.indexOf('--');
  if (end >= 0) return args[end + 1];
  const first = args.findIndex((word) => word.startsWith('-'));
  const found = args.find((word, place) => place > first && isWord(word) && (switches.has(args[place - 1] ?? '') || args[place - 1]?.includes('=')));
  // The last word may follow the value of an option.
  return found ?? (isWord(args.at(-1)) && !args.at(-2)?.startsWith('-') && args.length - 1 > first + 1 ? args.at(-1) : undefined);
}
