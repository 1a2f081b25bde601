import type { Mapping } from '../../contract/index.js';
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

const one = (mapping: Mapping, begins: BuiltIn['begins']): BuiltIn => ({ mapping, begins });

const log = (mapping: Mapping, begins: BuiltIn['begins']): BuiltIn => ({ mapping, begins, read: readLog, ofLines: true });

/** The built-in mappings, each with a pattern for the beginning of its tool's files. The first mapping that recognizes a file reads it. */
export const builtIns: readonly BuiltIn[] = [
  one(openHands, (head) => /^\s*\[\s*\{\s*"id"\s*:\s*\d+\s*,\s*"timestamp"\s*:[^{}]*"source"\s*:\s*"(?:user|agent|environment)"/.test(head)),
  one(openHandsEvents, (head) => /^\{"id":"[^"]*","timestamp":"[^"]*","source":"(?:user|agent|environment)"/.test(head)),
  one(antigravity, (head) => /^\{"step_index":\d+,"source":"[A-Z_]+","type":"[A-Z_]+"/.test(head)),
  one(sweAgent, (head, path) => path.endsWith('.traj') || /^\s*\{\s*"(?:environment|trajectory|history)"\s*:/.test(head)),
  one(miniSweAgent, (head, path) => path.endsWith('.traj.json') && /^\s*\{/.test(head)),
  one(miniSweAgentMessages, (head, path) => path.endsWith('.traj.json') && /^\s*\[\s*\{\s*"role"/.test(head)),
  one(droid, (head) => /^\{"type":"session_start","id":"[^"]*"/.test(head)),
  one(codexExec, (head) => /^\s*\{"type":\s*"thread\.started",\s*"thread_id"/.test(head)),
  log(geminiStream, (head) => /^\s*\{"type":\s*"init",.{0,200}"session_id":/.test(head)),
  one(cursorStream, (head) => /^\s*\{"type":\s*"system",\s*"subtype":\s*"init"/.test(head) && !/^[^\n]*"(?:uuid|tools)"/.test(head)),
  log(droidStream, (head) => /^\s*\{"type":\s*"system",\s*"session_id":/.test(head)),
  one(amp, (head, path) => /(^|[/\\])T-[0-9a-f-]{36}\.json$/.test(path) && /^\s*\{\s*"v"/.test(head)),
  one(continueCli, (head) => /^\s*\{\s*"sessionId"\s*:/.test(head) && /"history"\s*:\s*\[/.test(head)),
  one(kiro, (head) => /^\s*\{\s*"conversation_id"\s*:/.test(head) && /"history"\s*:\s*\[/.test(head)),
  { mapping: aider, begins: isAider, read: readAider, beside: { name: '.aider.chat.history.md', other: '.aider.input.history' } },
  { mapping: specStory, begins: isSpecStory, read: readSpecStory },
  one(kimi, (head) => /^\{"type":"metadata","protocol_version":/.test(head)),
  one(adk, (head, path) => /"(?:invocation_id|invocationId)"\s*:/.test(head) || (path.endsWith('.session.json') && /"events"\s*:/.test(head))),
  one(openAiAgentsState, (head) => /^\s*\{\s*"\$schemaVersion"\s*:\s*"1\./.test(head)),
  one(managedAgents, (head) => /^\s*\["client\.beta\.sessions\./.test(head)),
  one(pydanticAi, (head) => /^\s*\[\s*\{\s*"(?:kind|parts)"\s*:/.test(head) && head.includes('"part_kind"')),
  one(vercelAi, (head) => /^\s*\[\s*\{/.test(head) && /"role"\s*:\s*"(?:user|system|assistant)"/.test(head) && /"parts"\s*:\s*\[/.test(head)),
];

/** File extensions that are searched only because of these mappings. */
export const builtInEndings: readonly string[] = ['.traj', '.chat.history.md'];

/** The databases that Stemma reads by a mapping. */
export const builtInDatabases: readonly BuiltInDatabase[] = [goose, crush, openAiAgents, adkDatabase, kiroDatabase, zed];
