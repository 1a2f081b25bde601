// qwen-code: the histories of Qwen Code, JSONL files that hold a tree: Claude Code's envelope around messages of Gemini's API.
// schema.ts says what a record is, parse.ts reads records and says which is whose child.
// write.ts writes records and a session that the agent resumes.
import { decodeText } from '../../base/index.js';
import { byClass, type ImportableFormat } from '../format.js';
import { beginsAsEntry, fromRules, scanRecords } from '../shared/records.js';
import { rules } from './parse.js';
import { formatId, readParts } from './schema.js';
import { writeEntries, writeSession } from './write.js';

export const qwenCode: ImportableFormat = {
  ...fromRules(rules),
  id: formatId,
  about: { name: 'Qwen Code session', what: 'A session file that Qwen Code resumes.', extension: 'jsonl' },
  seals: { thoughtSignature: { of: ['text'], broken: '' } },
  tier: 'translated',
  holds: ['thinking', 'unsignedThinking', 'signature', 'image', 'blank', 'error', 'summary', 'injected', 'resultData', 'model', 'time'],
  // The tools of Qwen Code 0.24.4.
  tools: byClass({
    read: ['read_file', 'read_many_files'],
    write: ['write_file'],
    edit: ['edit', 'replace'],
    shell: ['run_shell_command'],
    search: ['list_directory', 'grep_search', 'search_file_content', 'glob', 'web_search'],
    fetch: ['web_fetch'],
    task: ['agent', 'task'],
    plan: ['todo_write', 'exit_plan_mode'],
  }),
  recognize,
  write: writeEntries,
  session: writeSession,
};

const types: ReadonlySet<unknown> = new Set(['user', 'assistant', 'tool_result', 'system']);

/** Claude Code has the same envelope, but its messages have no parts. */
function recognize(head: Uint8Array): number {
  if (beginsAsEntry(head, rules)) return 1;
  const records = scanRecords(rules, head).pieces.flatMap(({ record }) => (record ? [record] : []));
  const [first] = records;
  // A first prompt with an image may be longer than the beginning that is read.
  if (!first && /^\s*\{[^\n]*"parentUuid":[^\n]*"message":\{"role":"\w+","parts":\[/.test(decodeText(head.subarray(0, 4_096)))) return 0.9;
  if (!first || typeof first.uuid !== 'string' || !types.has(first.type)) return 0;
  if (first.type === 'tool_result' || records.some((record) => readParts(record).length > 0)) return 1;
  return first.systemPayload === undefined ? 0 : 0.8;
}
