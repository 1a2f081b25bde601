import { isObject, type Json, parseJson } from '../../base/index.js';
import { hasMembers } from '../shared/top-members.js';
import { antigravity, droid, kimi, miniSweAgent, miniSweAgentMessages, openHands, openHandsEvents, sweAgent } from './built-in-agents.js';
import { adkDatabase, goose, openAiAgents } from './built-in-databases.js';
import { adk, pydanticAi, vercelAi } from './built-in-frameworks.js';
import { amp, codexExec, cursorStream, droidStream, geminiStream, readLog } from './built-in-logs.js';
import { managedAgents, openAiAgentsState } from './built-in-states.js';
import { continueCli, crush, kiro, kiroDatabase } from './built-in-terminals.js';
import { aider, isAider, isSpecStory, readAider, readSpecStory, specStory } from './built-in-texts.js';
import { zed } from './built-in-zed.js';
import type { BuiltInDatabase } from './parse-database.js';
import type { BuiltIn } from './parse-document.js';
import type { MappingRules } from './rules.js';

const one = (mapping: MappingRules, begins: BuiltIn['begins']): BuiltIn => ({ mapping, begins });

const log = (mapping: MappingRules, begins: BuiltIn['begins']): BuiltIn => ({ mapping, begins, read: readLog, ofLines: true });

/** The first record of lines or of a list, after what a terminal printed. Undefined if the record is longer than the beginning. */
function firstRecord(head: string): Json | undefined {
  if (head !== lastRead.head) lastRead = { head, record: readFirstRecord(head) };
  return lastRead.record;
}

/** The last beginning and its first record: each mapping asks about the same file. */
let lastRead: { readonly head: string; readonly record: Json | undefined } = { head: '', record: undefined };

function readFirstRecord(head: string): Json | undefined {
  if (/^\s*\[\s*\{/.test(head)) {
    const start = head.indexOf('{');
    for (let end = head.indexOf('}'); end >= 0; end = head.indexOf('}', end + 1)) {
      const record = parseJson(head.slice(start, end + 1));
      if (record !== undefined) return record;
    }
  }
  for (const line of head.split('\n', mostNoise)) {
    if (!line.trimStart().startsWith('{')) continue;
    return parseJson(line);
  }
  return undefined;
}
const mostNoise = 20;

/** Members of a first record, in any order: any value, or one that matches. Of a record that is cut off, the names of those before the cut are enough. */
const opens =
  (members: Readonly<Record<string, RegExp | true>>, ...without: readonly string[]): BuiltIn['begins'] =>
  (head) => {
    const record = firstRecord(head);
    if (!isObject(record)) {
      const isCut = /^\s*\{[^\n]*$/.test(head) && !without.some((name) => head.includes(`"${name}":`));
      return isCut && Object.keys(members).every((name) => head.includes(`"${name}":`));
    }
    return (
      Object.entries(members).every(([name, value]) => (value === true ? name in record : isLike(record[name], value))) &&
      !without.some((name) => name in record)
    );
  };

const isLike = (value: Json | undefined, pattern: RegExp): boolean =>
  (typeof value === 'string' || typeof value === 'number') && pattern.test(`${value}`);

/** What the beginning of a document contains, in any order. */
const contains =
  (start: RegExp, ...parts: readonly RegExp[]): BuiltIn['begins'] =>
  (head) =>
    start.test(head) && parts.every((part) => part.test(head));

/** The built-in mappings, each with a pattern for the beginning of its tool's files. The first mapping that recognizes a file reads it. */
export const builtIns: readonly BuiltIn[] = [
  one(openHands, contains(/^\s*\[\s*\{\s*"/, /"timestamp"\s*:/, /"source"\s*:\s*"(?:user|agent|environment)"/, /"(?:action|observation)"\s*:\s*"/)),
  one(openHandsEvents, opens({ id: /./, timestamp: /^\d/, source: /^(?:user|agent|environment)$/, kind: true })),
  one(antigravity, opens({ step_index: /^\d+$/, source: /^[A-Z_]+$/, type: /^[A-Z_]+$/ })),
  one(sweAgent, (head, path) => path.endsWith('.traj') || /^\s*\{\s*"(?:environment|trajectory|history)"\s*:/.test(head)),
  one(miniSweAgent, (head, path) => path.endsWith('.traj.json') && /^\s*\{/.test(head)),
  one(miniSweAgentMessages, (head, path) => path.endsWith('.traj.json') && /^\s*\[\s*\{\s*"/.test(head) && head.includes('"role"')),
  one(droid, opens({ type: /^session_start$/, id: true })),
  log(codexExec, opens({ type: /^thread\.started$/, thread_id: true })),
  log(geminiStream, opens({ type: /^init$/, session_id: true })),
  log(cursorStream, opens({ type: /^system$/, subtype: /^init$/, session_id: true }, 'uuid', 'tools')),
  log(
    droidStream,
    (head, path) => opens({ type: /^system$/, session_id: true, model: true }, 'uuid')(head, path) && !/"message"\s*:\s*\{/.test(head),
  ),
  one(amp, (head, path) => /(^|[/\\])T-[0-9a-f-]{36}\.json$/.test(path) && /^\s*\{\s*"/.test(head)),
  one(continueCli, contains(/^\s*\{\s*"/, /"sessionId"\s*:/, /"history"\s*:\s*\[/)),
  one(kiro, contains(/^\s*\{\s*"/, /"conversation_id"\s*:/, /"history"\s*:\s*\[/)),
  { mapping: aider, begins: isAider, read: readAider, beside: { name: '.aider.chat.history.md', other: '.aider.input.history' } },
  { mapping: specStory, begins: isSpecStory, read: readSpecStory },
  one(kimi, opens({ type: /^metadata$/, protocol_version: true })),
  one(adk, (head, path) => /"(?:invocation_id|invocationId)"\s*:/.test(head) || (path.endsWith('.session.json') && /"events"\s*:/.test(head))),
  one(openAiAgentsState, (head) => hasMembers(head, { $schemaVersion: /^1\./ })),
  one(managedAgents, (head) => /^\s*\["client\.beta\.sessions\./.test(head)),
  one(pydanticAi, contains(/^\s*\[\s*\{\s*"/, /"(?:kind|parts)"\s*:/, /"part_kind"\s*:/)),
  one(vercelAi, (head) => /^\s*\[\s*\{/.test(head) && /"role"\s*:\s*"(?:user|system|assistant)"/.test(head) && /"parts"\s*:\s*\[/.test(head)),
];

/** File extensions that are searched only because of these mappings. */
export const builtInEndings: readonly string[] = ['.traj', '.chat.history.md'];

export const builtInDatabases: readonly BuiltInDatabase[] = [goose, crush, openAiAgents, adkDatabase, kiroDatabase, zed];
