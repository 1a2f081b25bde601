import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, sep } from 'node:path';
import { isObject, parseJson, stringAt } from '../base/index.js';
import { readEnds } from './files.js';
import type { Taking } from './grown.js';
import { type AgentRoot, historyFolders } from './places.js';
import { recognized } from './recognize.js';

/** What an agent told a hook of itself: which of its transcripts is meant, and what of it is to be taken in. */
export interface HookEvent {
  readonly event: string;
  /** The transcript, where it is one below a folder in which an agent of this machine keeps its histories. */
  readonly path: string;
  readonly what: Taking['what'];
  /** The last line of an answer that the agent has given, and that its file may not hold yet. */
  readonly awaited?: string;
}

interface Rule {
  readonly what: Taking['what'];
  readonly path: 'transcript_path' | 'agent_transcript_path';
}

/** Claude Code's events. At all others, what is over by then is taken in. */
const rules: Readonly<Record<string, Rule>> = {
  Stop: { what: 'resting', path: 'transcript_path' },
  SubagentStop: { what: 'end', path: 'agent_transcript_path' },
  PreCompact: { what: 'compaction', path: 'transcript_path' },
  SessionEnd: { what: 'end', path: 'transcript_path' },
};
const anyOther: Rule = { what: 'settled', path: 'transcript_path' };

/**
 * Reads what an agent gave to a hook. Undefined where its transcript is not there, which is no fault: helpers of a compaction never
 * write theirs. A text says why the rest is not followed: the path comes from outside, and only a transcript among the histories of the
 * agents is read, whatever links lead there.
 */
export function readHookEvent(json: string, roots: readonly AgentRoot[]): HookEvent | string | undefined {
  const said = parseJson(json);
  const event = stringAt(said, 'hook_event_name');
  if (!isObject(said) || event === undefined) return 'it is no event of a hook: an object with hook_event_name is expected';
  const rule = Object.hasOwn(rules, event) ? (rules[event] as Rule) : anyOther;
  const path = stringAt(said, rule.path);
  if (path === undefined || path === '') return `the event ${event} names no transcript in ${rule.path}`;
  if (!isAbsolute(path) || path.includes('\0') || !path.endsWith('.jsonl')) return `the transcript of ${event} is no path of a .jsonl file`;
  if (!existsSync(path)) return undefined;
  const real = realpathSync(path);
  const folders = roots.flatMap(historyFolders).filter((folder) => existsSync(folder));
  if (!folders.some((folder) => real.startsWith(realpathSync(folder) + sep)))
    return `the transcript of ${event} is not among the histories of an agent: ${folders.join(', ') || 'none is here'}`;
  const awaited = lastLineOf(stringAt(said, 'last_assistant_message') ?? '');
  return { event, path, what: rule.what, ...(awaited !== '' && { awaited }) };
}

const awaitedLength = 200;
const lastLineOf = (message: string): string => message.trimEnd().split('\n').at(-1)?.trim().slice(-awaitedLength) ?? '';

const tailLength = 256 * 1024;

/** Whether the answer stands at the end of the transcript, and nothing goes on behind it. The file is behind its agent's events. */
export function hasArrived(path: string, awaited: string): boolean {
  const { head, tail } = readEnds(path, tailLength);
  const end = Buffer.from(tail.length > 0 ? tail : head);
  if (!end.includes(JSON.stringify(awaited).slice(1, -1))) return false;
  const wholeLines = tail.length > 0 ? end.subarray(end.indexOf(0x0a) + 1) : end;
  return recognized(head, path)?.format.progress?.(wholeLines, 'turn_boundary').open !== true;
}
