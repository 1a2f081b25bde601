// The same format by rules, as docs/add-a-format.md shows it.
import { type JsonObject, stringAt } from '../../../../src/core/base/index.js';
import { facts, type ImportableFormat } from '../../../../src/core/formats/format.js';
import { said } from '../../../../src/core/formats/shared/drafts.js';
import type { RecordRules } from '../../../../src/core/formats/shared/record-rules.js';
import { beginsAsEntry, fromRules, scanRecords } from '../../../../src/core/formats/shared/records.js';

const isMessage = (record: JsonObject | undefined): boolean => typeof record?.id === 'string' && typeof record.role === 'string';
const isUser = (record: JsonObject): boolean => record.role === 'user';

const rules: RecordRules = {
  formatId: 'chatlog-v1',
  template: 'chatlog',
  dialect: { beginning: /\{"id":/g, isWhole: isMessage },
  about: ([first]) => ({ sessionId: stringAt(first, 'session'), cwd: stringAt(first, 'cwd') }),
  // Without a parent, a record follows the one before it. Undefined for a record outside of the conversation.
  place: (record) => (isMessage(record) ? { name: `chatlog:${String(record.id)}`, part: isUser(record) ? 'prompt' : 'answer' } : undefined),
  // The number of an entry in its record is part of its key.
  entries: (record) => [[0, said(isUser(record) ? 'user' : 'assistant', stringAt(record, 'text') ?? '')]],
  gather: () => undefined,
};

export const chatlog: ImportableFormat = {
  ...fromRules(rules),
  id: rules.formatId,
  about: { name: 'Chat log', what: 'A log that the imaginary agent reads.', extension: 'jsonl' },
  tier: 'translated',
  holds: facts,
  recognize: (head) => (beginsAsEntry(head, rules) || isMessage(scanRecords(rules, head).pieces[0]?.record) ? 1 : 0),
};
