// copilot-cli: the histories of GitHub Copilot CLI, an `events.jsonl` in a folder for each session.
// schema.ts says what an event is, parse.ts reads events and says which belongs where.
// write.ts writes events and a session that the agent resumes.
import { isObject, stringAt } from '../../base/index.js';
import { byClass, type ImportableFormat } from '../format.js';
import { beginsAsEntry, fromRules, scanRecords } from '../shared/records.js';
import { rules } from './parse.js';
import { formatId, readData, readType } from './schema.js';
import { writeEntries, writeSession } from './write.js';

export const copilotCli: ImportableFormat = {
  ...fromRules(rules),
  id: formatId,
  about: { name: 'GitHub Copilot CLI session', what: 'An events.jsonl that Copilot CLI resumes.', extension: 'jsonl' },
  seals: { signature: { of: ['thinking'], broken: '' } },
  tier: 'translated',
  holds: ['thinking', 'unsignedThinking', 'sealedThinking', 'signature', 'error', 'summary', 'system', 'injected', 'model', 'time'],
  // The tools of Copilot CLI 1.0.102.
  tools: byClass({
    read: ['view'],
    write: ['create'],
    edit: ['edit', 'apply_patch'],
    shell: ['bash', 'read_bash', 'write_bash', 'stop_bash', 'list_bash', 'shell', 'powershell'],
    search: ['grep', 'rg', 'glob', 'web_search'],
    fetch: ['web_fetch', 'fetch_copilot_cli_documentation'],
    task: ['task', 'read_agent'],
    plan: ['update_todo', 'report_intent'],
  }),
  recognize,
  write: writeEntries,
  session: writeSession,
};

/** The first event is the start of a session, or any event with an id and a parent. */
function recognize(head: Uint8Array): number {
  if (beginsAsEntry(head, rules)) return 1;
  const first = scanRecords(rules, head).pieces.find(({ record }) => record !== undefined)?.record;
  if (!first || !isObject(first.data) || typeof first.id !== 'string' || !('parentId' in first)) return 0;
  return readType(first) === 'session.start' && stringAt(readData(first), 'sessionId') !== undefined
    ? 1
    : /^[a-z]+\.[a-z_]+$/.test(readType(first))
      ? 0.7
      : 0;
}
