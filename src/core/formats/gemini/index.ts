// gemini: the sessions of Gemini CLI, JSONL files of what it did to its one history, and the documents of its older versions.
// schema.ts says what a line is, parse*.ts read records and messages, plan*.ts turn the history into a tree and the tree into
// commits, plan-progress.ts follows a growing file, write*.ts write and cut messages, resume.ts writes a file that the agent resumes.
import { decodeText } from '../../base/index.js';
import { byClass, type ImportableFormat } from '../format.js';
import { ofLines, recordsOf } from '../shared/jsonl.js';
import { hasMembers } from '../shared/top-members.js';
import { parse } from './parse.js';
import { scanLines } from './parse-values.js';
import { formatId, peek, planImport } from './plan.js';
import { progress } from './plan-progress.js';
import { writeSession } from './resume.js';
import { writeEntries } from './write.js';
import { cutLines } from './write-cut.js';

export { readUsage } from './parse.js';
export { answerNoted, contentsSent } from './parse-contents.js';

export const gemini: ImportableFormat = {
  id: formatId,
  ...ofLines,
  about: { name: 'Gemini CLI session', what: 'A session file that Gemini CLI resumes.', extension: 'jsonl' },
  seals: { signature: { of: ['description'], broken: '' }, thoughtSignature: { of: ['text', 'functionCall'], broken: '' } },
  tier: 'translated',
  holds: ['thinking', 'unsignedThinking', 'signature', 'image', 'resultImage', 'error', 'summary', 'model', 'time'],
  tools: byClass({
    read: ['read_file', 'read_many_files'],
    write: ['write_file'],
    edit: ['replace'],
    shell: ['run_shell_command'],
    search: ['glob', 'list_directory', 'search_file_content', 'grep_search', 'google_web_search'],
    fetch: ['web_fetch'],
    plan: ['write_todos'],
  }),
  recognize,
  parse,
  write: writeEntries,
  cut: cutLines,
  session: writeSession,
  plan: planImport,
  peek,
  progress,
};

/** The first record names the session and its project. A file without its beginning is recognized by its kinds of lines. */
function recognize(head: Uint8Array): number {
  if (hasMembers(decodeText(head.subarray(0, 4_096)), { sessionId: /./, projectHash: /./ })) return 1;
  const records = recordsOf(scanLines(head).pieces);
  if (records.some(({ sessionId, projectHash }) => typeof sessionId === 'string' && typeof projectHash === 'string')) return 0.9;
  return records.filter(({ type, id, content }) => type === 'gemini' && typeof id === 'string' && content !== undefined).length > 0 ? 0.5 : 0;
}
