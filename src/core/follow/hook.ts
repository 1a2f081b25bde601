import { existsSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { isObject, parseJson, stringAt } from '../base/index.js';
import { FileRefused, type LocatedFile, realPath, statLocated } from '../files/index.js';
import { type AgentRoot, historyFolders, readEnds, recognized } from '../import/index.js';
import { outsideProblem, thisSystem } from '../system/index.js';
import type { GrowthOptions } from './growth.js';

/** An event of an agent about one of its transcripts. `root` is the history folder that contains the transcript. */
export interface HookEvent extends LocatedFile {
  readonly event: string;
  readonly what: GrowthOptions['what'];
  /** The last line of the agent's answer. The transcript may not contain it yet. */
  readonly awaited?: string;
}

/** What is imported at an event of Claude Code. At any other event, finished turns are. */
const whatAt: ReadonlyMap<string, GrowthOptions['what']> = new Map([
  ['Stop', 'resting'],
  ['SubagentStop', 'end'],
  ['PreCompact', 'compaction'],
  ['SessionEnd', 'end'],
]);

/**
 * Reads the event that an agent passed to a hook. Undefined if the transcript does not exist, which is normal: the helper agents of a
 * compaction never write one. A string is the reason why the event is ignored. Because the path comes from outside, only a transcript in
 * an agent's history folder is accepted, with no link between that folder and the transcript.
 */
export function readHookEvent(json: string, roots: readonly AgentRoot[]): HookEvent | string | undefined {
  const said = parseJson(json);
  const event = stringAt(said, 'hook_event_name');
  if (!isObject(said) || event === undefined) return 'the input is no event of a hook; expected a JSON object with hook_event_name';
  const field = event === 'SubagentStop' ? 'agent_transcript_path' : 'transcript_path';
  const path = stringAt(said, field);
  if (path === undefined || path === '') return `the event ${event} names no transcript in ${field}`;
  if (!isAbsolute(path) || path.includes('\0') || !path.endsWith('.jsonl'))
    return `the transcript of ${event} must be the absolute path of a .jsonl file`;
  if (!existsSync(path)) return undefined;
  const folders = roots.flatMap(historyFolders).filter((folder) => existsSync(folder));
  const file = folders.map((folder) => locatedIn(folder, path)).find((located) => located !== undefined);
  if (!file) return `the transcript of ${event} is not among the histories of an agent: ${folders.join(', ') || 'this machine has none'}`;
  try {
    if (!statLocated(file)) return undefined;
  } catch (error) {
    if (error instanceof FileRefused) return `the transcript of ${event} is refused: ${error.message}`;
    throw error;
  }
  const awaited = lastLineOf(stringAt(said, 'last_assistant_message') ?? '');
  return { event, ...file, what: whatAt.get(event) ?? 'settled', ...(awaited !== '' && { awaited }) };
}

/** Locates a path in a folder, by the folder's name or its real path; undefined if the path is outside of it. */
function locatedIn(folder: string, path: string): LocatedFile | undefined {
  for (const root of [resolve(folder), realPath(folder)]) {
    if (outsideProblem(root, path, thisSystem) === undefined) return { root, path: join(root, relative(root, path)) };
  }
  return undefined;
}

const awaitedLength = 200;
const lastLineOf = (message: string): string => message.trimEnd().split('\n').at(-1)?.trim().slice(-awaitedLength) ?? '';

const tailLength = 256 * 1024;

/** Whether the transcript ends with the answer. An agent writes its file after it sends the event. */
export function hasArrived(file: LocatedFile, awaited: string): boolean {
  const { head, tail } = readEnds(file, tailLength);
  const end = Buffer.from(tail.length > 0 ? tail : head);
  if (!end.includes(JSON.stringify(awaited).slice(1, -1))) return false;
  const wholeLines = tail.length > 0 ? end.subarray(end.indexOf(0x0a) + 1) : end;
  return recognized(head, file.path)?.format.progress?.(wholeLines, 'turn_boundary').open !== true;
}
