// codex: the rollouts of Codex CLI, JSONL files of what the model saw and wrote, what the screen showed, and compacted histories.
// schema.ts says what a line is, parse*.ts read lines, compressed files and file heads, plan-facts.ts collects the facts that plan.ts
// turns into commits, plan-progress.ts follows a growing file. write.ts writes items, resume.ts a file that the agent resumes.
import { defined, stringAt } from '../../base/index.js';
import { byClass, factsWithout, type ImportableFormat, type ParsedDelta } from '../format.js';
import { durationOf } from '../shared/durations.js';
import { ofLines } from '../shared/jsonl.js';
import { readItems } from './parse.js';
import { compressed, peek, recognize } from './parse-peek.js';
import { formatId, planImport } from './plan.js';
import { endsTurn, progress } from './plan-progress.js';
import { writeSession } from './resume.js';
import { placedLines, scanLines } from './schema.js';
import { cutLines, writeEntries } from './write.js';

export { type PlacedLine, readLines, sentItem } from './schema.js';
export { findOrigin, isReplayed, type Origin } from './schema-replay.js';
export { writeItems } from './write.js';

export const codex = {
  id: formatId,
  ...ofLines,
  about: { name: 'Codex session', what: 'A rollout that Codex resumes.', extension: 'jsonl' },
  seals: { encrypted_content: { of: ['summary'], broken: null }, signature: { of: ['text'], broken: '' } },
  tier: 'translated',
  holds: factsWithout('block', 'event', 'serverTool', 'resultData', 'model', 'author'),
  tools: byClass({
    read: ['read_file', 'view_image'],
    edit: ['apply_patch'],
    shell: ['shell', 'local_shell', 'local_shell_call', 'shell_command', 'exec_command'],
    search: ['grep_files', 'list_dir', 'web_search'],
    task: ['spawn_agent'],
    plan: ['update_plan'],
  }),
  recognize,
  parse: readDelta,
  write: writeEntries,
  cut: cutLines,
  session: writeSession,
  plan: planImport,
  planParts: planImport,
  peek,
  exports: compressed,
  progress,
} satisfies ImportableFormat;

/** The entries of the lines of a delta. */
export function readDelta(delta: Uint8Array): ParsedDelta {
  const { pieces, skipped } = scanLines(delta);
  const lines = placedLines(pieces);
  const lasted = durationOf(lines, ({ sort, payload }) => (sort === 'event' && endsTurn.has(payload.type) ? payload.duration_ms : undefined));
  const meta = lines.findLast(({ sort, payload }) => sort === 'meta' && stringAt(payload.git, 'branch'));
  return { entries: readItems(lines), elisions: [], ...lasted, ...defined({ branch: stringAt(meta?.payload.git, 'branch') }), problems: skipped };
}
