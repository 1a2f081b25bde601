import { expect } from 'vitest';
import { planImport } from '../../../../src/core/formats/claude-code/plan.js';
import type { ImportPlan, PlanContext, PlannedCommit } from '../../../../src/core/formats/index.js';
import { claudeCode, outlined } from '../../../../src/core/formats/index.js';

/** Claude Code records of every kind that the reader distinguishes, written by hand. Times follow the position in a file. */
export type Line = Readonly<Record<string, unknown>>;

const record = (type: string, uuid: string, parent: string | null, rest: Line): Line => ({
  parentUuid: parent,
  isSidechain: false,
  userType: 'external',
  cwd: '/work',
  sessionId: '11111111-1111-4111-8111-111111111111',
  version: '2.1.300',
  type,
  uuid,
  ...rest,
});

export const user = (uuid: string, parent: string | null, content: unknown, rest: Line = {}): Line =>
  record('user', uuid, parent, { message: { role: 'user', content }, ...rest });

export const assistant = (uuid: string, parent: string | null, blocks: string | readonly object[], rest: Line & { id?: string } = {}): Line => {
  const { id = `msg_${uuid}`, ...others } = rest;
  const content = typeof blocks === 'string' ? [{ type: 'text', text: blocks }] : blocks;
  return record('assistant', uuid, parent, { message: { id, type: 'message', role: 'assistant', model: 'claude-opus-4-5', content }, ...others });
};

export const use = (id: string, name = 'Bash', input: Line = { command: 'ls' }): object => ({ type: 'tool_use', id, name, input });

export const result = (uuid: string, parent: string | null, id: string, content: unknown = 'done', rest: Line = {}): Line =>
  user(uuid, parent, [{ type: 'tool_result', tool_use_id: id, content }], rest);

export const system = (uuid: string, parent: string | null, subtype: string, rest: Line = {}): Line =>
  record('system', uuid, parent, { subtype, ...rest });
export const boundary = (uuid: string, logicalParentUuid: string | undefined, keeps: readonly string[] = []): Line =>
  system(uuid, null, 'compact_boundary', {
    ...(logicalParentUuid === undefined ? {} : { logicalParentUuid }),
    content: 'Conversation compacted',
    compactMetadata: { trigger: 'auto', preTokens: 1_000, ...(keeps.length > 0 ? { preservedMessages: { uuids: keeps, allUuids: keeps } } : {}) },
  });
export const summary = (uuid: string, parent: string, text = 'What happened so far.'): Line =>
  user(uuid, parent, text, { isCompactSummary: true, isVisibleInTranscriptOnly: true });
export const progress = (uuid: string, parent: string | null): Line =>
  record('progress', uuid, parent, { data: { type: 'bash_progress', output: '' } });
export const reminder = (uuid: string, parent: string | null, text: string): Line =>
  record('attachment', uuid, parent, { attachment: { type: 'note' }, rendered: [{ content: text }], renderedRole: 'system' });
export const snapshot: Line = { type: 'file-history-snapshot', messageId: 'm', snapshot: {}, isSnapshotUpdate: false };
export const queued: Line = { type: 'queue-operation', operation: 'enqueue', content: 'later' };

/** A session file of these records; a text is used unchanged. */
export function fileOf(...lines: readonly (Line | string)[]): Uint8Array {
  const text = lines.map((line, at) => {
    if (typeof line === 'string') return line;
    const isChained = 'uuid' in line && !('timestamp' in line);
    return `${JSON.stringify(isChained ? { ...line, timestamp: new Date(1_767_225_600_000 + at * 1_000).toISOString() } : line)}\n`;
  });
  return Buffer.from(text.join(''));
}

export const path = '/home/someone/.claude/projects/-work/11111111-1111-4111-8111-111111111111.jsonl';

/** The plan of a file. Each plan is also made from small parts of the file, of which nothing is kept, and is the same. */
export function plan(file: Uint8Array, context: Partial<PlanContext> = {}): ImportPlan {
  const all: PlanContext = { path, known: { has: () => false }, resumeAt: 0, granularity: 'turn_boundary', ...context };
  const inParts = { length: file.length, subarray: (start: number, end: number) => file.slice(start, end) };
  const planned = claudeCode.plan(file, all);
  expect(planImport(inParts, all, 300)).toEqual(planned);
  // The outline and the calls that were read with the plan equal those read from the entries and from the delta alone.
  for (const commit of planned.commits) {
    const { calls, ...outline } = commit.outline ?? {};
    expect(outline).toEqual(outlined(commit));
    expect(calls).toEqual(claudeCode.calls?.(deltaOf(file, commit)));
  }
  return planned;
}

/** The bytes of a planned commit's delta. */
export const deltaOf = (file: Uint8Array, { ranges, kept = [] }: PlannedCommit): Uint8Array =>
  Buffer.concat([...ranges, ...kept].map(({ start, end }) => file.subarray(start, end)));

/** The numbers of the commits from the root to this one. */
export function lineage({ commits }: ImportPlan, tip: number): readonly number[] {
  const way: number[] = [];
  for (let at: number | undefined = tip; at !== undefined; ) {
    way.unshift(at);
    const parent: PlannedCommit['parent'] = commits[at]?.parent ?? null;
    at = parent !== null && 'plan' in parent ? parent.plan : undefined;
  }
  return way;
}

/** The commit that the agent would resume. */
export function lastTip({ tips }: ImportPlan): number {
  const last = tips.at(-1);
  if (!last || !('plan' in last)) throw new Error('the plan has no tip of its own');
  return last.plan;
}

/** The texts that a model saw at a commit. */
export const seenAt = (of: ImportPlan, tip: number): readonly string[] => {
  const way = lineage(of, tip);
  const from = way.findLastIndex((at) => of.commits[at]?.type === 'compaction');
  const entries = way.slice(Math.max(from, 0)).flatMap((at) => of.commits[at]?.entries ?? []);
  return entries.filter(({ marks }) => !marks?.includes('hidden')).map(({ text, toolCallId }) => text ?? toolCallId ?? '');
};

/** How often each byte of the file occurs in the ranges of deltas and in the side data. */
export function coverage(file: Uint8Array, { commits, side }: ImportPlan): Uint8Array {
  const times = new Uint8Array(file.length);
  for (const { start, end } of [...commits.flatMap(({ ranges }) => ranges), ...side])
    for (let at = start; at < end; at++) times[at] = (times[at] ?? 0) + 1;
  return times;
}
