import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { dataDirOf } from '../launch/index.js';

/** What a line of an agent's output says of its session, as lines of a transcript; undefined where it says nothing. */
export type StreamReader = (line: string) => { readonly sessionId: string; readonly lines: string } | undefined;

/** A transcript that is made of what an agent says on its standard output, for as long as it runs. */
export interface StreamTranscript {
  /** The folder in which it lies, for capture to follow. */
  readonly folder: string;
  /** The next part of the output, wherever it is cut. */
  take(part: Buffer): void;
  /** Takes the transcript away: what was captured of it is in the project. */
  remove(): void;
}

export function streamTranscript(read: StreamReader): StreamTranscript {
  const folder = join(dataDirOf(), 'streams', randomUUID());
  mkdirSync(folder, { recursive: true });
  /** Parts of a line that has not come to its end. */
  let begun: Buffer[] = [];
  return {
    folder,
    take: (part) => {
      const end = part.lastIndexOf(0x0a) + 1;
      if (end === 0) return void begun.push(part);
      const lines = Buffer.concat([...begun, part.subarray(0, end)]).toString('utf8');
      begun = [part.subarray(end)];
      for (const line of lines.split('\n')) {
        const found = read(line);
        if (found && /^[\w-]{1,100}$/.test(found.sessionId)) appendFileSync(join(folder, `${found.sessionId}.jsonl`), found.lines, { mode: 0o600 });
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

interface Event {
  readonly type?: unknown;
  readonly uuid?: unknown;
  readonly session_id?: unknown;
  readonly parent_tool_use_id?: unknown;
  readonly message?: unknown;
  readonly tool_use_result?: unknown;
}

/**
 * Claude Code's `--output-format stream-json`, where it is told to write no session: its messages are those of a transcript but for
 * their places in the tree, which is the order in which they come, each subagent's by itself. Its output does not repeat the prompt of
 * the command line, which stands first.
 */
export function claudeStream(words: readonly string[], cwd: string, now: () => Date = () => new Date()): StreamReader | undefined {
  const isStream = words.some(
    (word, at) => word === '--output-format=stream-json' || (word === 'stream-json' && words[at - 1] === '--output-format'),
  );
  if (!isStream || !words.includes('--no-session-persistence')) return undefined;
  const last = new Map<string, string>();
  let prompt = promptIn(words);
  const record = (event: Event, thread: string, more: object, uuid: string): string => {
    const about = { isSidechain: thread !== '', cwd, sessionId: event.session_id, timestamp: now().toISOString() };
    const text = `${JSON.stringify({ parentUuid: last.get(thread) ?? null, ...about, ...more, uuid })}\n`;
    last.set(thread, uuid);
    return text;
  };
  return (line) => {
    const event = eventIn(line);
    if (typeof event?.session_id !== 'string') return undefined;
    const { type, uuid, message, tool_use_result: toolUseResult } = event;
    const thread = typeof event.parent_tool_use_id === 'string' ? event.parent_tool_use_id : '';
    let lines = '';
    if (prompt !== undefined) lines += record(event, '', { type: 'user', message: { role: 'user', content: prompt } }, randomUUID());
    prompt = undefined;
    if ((type === 'assistant' || type === 'user') && typeof uuid === 'string')
      lines += record(event, thread, { type, message, ...(toolUseResult !== undefined && { toolUseResult }) }, uuid);
    // The end of a turn: whoever reads the transcript need not wait for what may follow.
    else if (type === 'result') lines += record(event, '', { type: 'system', subtype: 'turn_duration', isMeta: true }, randomUUID());
    return lines === '' ? undefined : { sessionId: event.session_id, lines };
  };
}

function eventIn(line: string): Event | undefined {
  try {
    const value: unknown = line.startsWith('{') ? JSON.parse(line) : undefined;
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The prompt behind `-p`, or the last word; undefined where it comes on standard input. */
function promptIn(words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => word === '-p' || word === '--print');
  const behind = at >= 0 ? words[at + 1] : undefined;
  if (behind !== undefined && !behind.startsWith('-')) return behind;
  const end = words.at(-1) ?? '';
  return at >= 0 && !end.startsWith('-') && !words.at(-2)?.startsWith('--') ? end : undefined;
}
