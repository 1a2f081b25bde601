import { isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { RecordRole } from '../shared/branches.js';
import { objectsIn } from '../shared/drafts.js';
import { startedWith } from '../shared/keys.js';
import { firstIn } from '../shared/plans.js';
import type { About, RecordPlace, RecordRules } from '../shared/records.js';
import { readEntries } from './parse.js';
import { oddities } from './parse-unread.js';
import { dialect, formatId, isReplacing, nameOf, readParts, readRoot, readStep, stepName, stepTime } from './schema.js';

/** Plans commits from lines: one chain in the order of the steps, because ATIF has no branches. */
export const rules: RecordRules = {
  formatId,
  template: 'atif',
  dialect,
  about,
  place,
  olderName: ({ of }, name) => (typeof of === 'string' ? name.replace(`:${of}:`, ':') : undefined),
  entries: readEntries,
  gather: () => undefined,
  oddities,
  continues: true,
  at: (record) => stepTime(readStep(record)),
  prompt: (record) => {
    const step = readStep(record);
    return step?.source === 'user' ? firstIn(readParts(step.message), (part) => stringAt(part, 'text') || undefined) : undefined;
  },
};

function about(records: readonly JsonObject[]): About {
  const line = records.find((record) => readRoot(record) !== undefined);
  const root = line && readRoot(line);
  const isChild = stringAt(root, 'parent') !== undefined;
  const own = stringAt(line, 'atif');
  const kept = isObject(root?.extra) && isObject(root.extra.stemma) ? root.extra.stemma : undefined;
  return {
    // Subagents share the session's id, which therefore does not identify them.
    sessionId: isChild ? own : (stringAt(root, 'session_id') ?? own),
    cwd: stringAt(kept, 'cwd'),
    title: stringAt(kept, 'title'),
    ...(isChild && { agent: (isObject(root?.agent) ? stringAt(root.agent, 'name') : undefined) ?? 'agent' }),
    ...(isChild && own !== undefined && { startedBy: { sessionId: own } }),
  };
}

function place(record: JsonObject): RecordPlace | undefined {
  const id = stringAt(record, 'atif');
  if (id === undefined) return undefined;
  if (readRoot(record)) return { name: nameOf(record, 'root'), part: 'quiet' };
  const step = readStep(record);
  if (!step) return record.row === undefined ? undefined : { name: nameOf(record, 'row'), part: 'quiet' };
  const starts = startedBy(step);
  return { name: stepName(step, record), part: roleInTurn(step), ...(starts.length > 0 && { others: starts }) };
}

/** The names by which the subagents in the results of a step find this step. */
const startedBy = (step: JsonObject): readonly string[] =>
  objectsIn(isObject(step.observation) ? step.observation.results : undefined).flatMap((result) =>
    objectsIn(result.subagent_trajectory_ref).flatMap((ref) => {
      const id = stringAt(ref, 'trajectory_id');
      return id === undefined ? [] : [startedWith(id, stringAt(result, 'source_call_id') ?? 'step')];
    }),
  );

function roleInTurn(step: JsonObject): RecordRole {
  if (step.source === 'user') return 'prompt';
  if (step.source === 'agent') return 'round';
  return isReplacing(step) ? 'compaction' : 'lead';
}
