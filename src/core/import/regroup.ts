// Joins planned commits, so that checkpoints are taken every few turns, or at significant events within a turn.
import { type ByteRange, defined, isObject, parseJson, stringAt } from '../base/index.js';
import type { CheckpointEvent } from '../contract/index.js';
import type { FileBytes, ImportableFormat, ImportPlan, ParsedDelta, ParsedEntry, PlannedCommit } from '../formats/index.js';

/** When a commit ends. Compactions always are commits of their own. */
export interface Regrouping {
  /** At the end of each message of the assistant too. */
  readonly atMessages: boolean;
  /** The number of turns of a commit. */
  readonly every: number;
  readonly events: ReadonlySet<CheckpointEvent>;
}

/** The end of the bytes to import now, and the checkpoint there. The rest waits until it is complete. */
export interface Until {
  readonly untilByte: number;
  readonly last: PlannedCommit['checkpoint'] | undefined;
}

interface Group {
  readonly members: PlannedCommit[];
  /** Undefined while the group is incomplete. */
  checkpoint: PlannedCommit['checkpoint'] | undefined;
  turns: number;
}

/**
 * Joins the commits of a plan as wanted. If the last ones form no complete commit yet and the session goes on (`waits`), returns where the import should
 * end instead.
 */
export function regrouped(
  plan: ImportPlan,
  { bytes, format, resumeAt }: { readonly bytes: FileBytes; readonly format: ImportableFormat; readonly resumeAt: number },
  { waits, ...wanted }: Regrouping & { readonly waits: boolean },
): ImportPlan | Until {
  const { groups, of } = numberGroups(plan, bytes, resumeAt, wanted);
  const tip = plan.tips.at(-1);
  const open = waits && tip && 'plan' in tip ? groups[of[tip.plan] as number] : undefined;
  if (open && open.checkpoint === undefined) {
    const { parent } = open.members[0] as PlannedCommit;
    const before = parent && 'plan' in parent ? groups[of[parent.plan] as number] : undefined;
    return { untilByte: open.members[0]?.ranges[0]?.start ?? resumeAt, last: before?.checkpoint };
  }
  const refer = <Ref extends PlannedCommit['parent']>(ref: Ref): Ref =>
    ref && 'plan' in ref && of[ref.plan] !== ref.plan ? ({ plan: of[ref.plan] as number } as Ref) : ref;
  const commits = groups.map(({ members, checkpoint }) => {
    const [only, ...others] = members as [PlannedCommit, ...PlannedCommit[]];
    const parent = refer(only.parent);
    if (others.length > 0) return joined(members, bytes, format, { parent, checkpoint: checkpoint ?? (members.at(-1) as PlannedCommit).checkpoint });
    const isSame = parent === only.parent && (checkpoint === undefined || checkpoint === only.checkpoint);
    // The content of a commit is read on demand, so the commit is not copied.
    return isSame ? only : withPlace(only, { parent, checkpoint: checkpoint ?? only.checkpoint });
  });
  return { ...plan, commits, tips: plan.tips.map(refer) };
}

/** The groups of a plan's commits in the order of their first ones, and the number of each commit's group. */
function numberGroups(plan: ImportPlan, bytes: FileBytes, resumeAt: number, wanted: Regrouping): { readonly groups: Group[]; readonly of: number[] } {
  const groups: Group[] = [];
  const of: number[] = [];
  const children = new Map<number, number>();
  for (const { parent } of plan.commits) if (parent && 'plan' in parent) children.set(parent.plan, (children.get(parent.plan) ?? 0) + 1);
  let model = wanted.events.has('model_change') ? lastModel(bytes, [{ start: Math.max(0, resumeAt - lookBack), end: resumeAt }]) : undefined;
  plan.commits.forEach((commit, number) => {
    const before = commit.parent && 'plan' in commit.parent ? commit.parent.plan : undefined;
    const previous = before === undefined ? undefined : groups[of[before] as number];
    const first = wanted.events.has('model_change') ? lastModel(bytes, commit.ranges) : undefined;
    const changes = first !== undefined && model !== undefined && first !== model;
    model = first ?? model;
    if (previous && previous.checkpoint === undefined && changes && isPlain(commit)) previous.checkpoint = 'event';
    const joins = previous !== undefined && previous.checkpoint === undefined && children.get(before as number) === 1 && follows(previous, commit);
    const group: Group = joins ? previous : { members: [], checkpoint: undefined, turns: 0 };
    if (!joins) {
      if (previous) previous.checkpoint ??= previous.members.at(-1)?.checkpoint;
      groups.push(group);
    }
    group.members.push(commit);
    of[number] = joins ? (of[before as number] as number) : groups.length - 1;
    group.checkpoint = checkpointAfter(group, commit, wanted);
  });
  return { groups, of };
}

/** How far before an addition its last model is searched. */
const lookBack = 256 * 1024;

/** The checkpoint after a commit at the end of a group; undefined if the group goes on. */
function checkpointAfter(group: Group, commit: PlannedCommit, { atMessages, every, events }: Regrouping): PlannedCommit['checkpoint'] | undefined {
  const { type, checkpoint } = commit;
  const endsTurn = checkpoint !== 'tool_call' && checkpoint !== 'assistant_message';
  if (endsTurn) group.turns++;
  if (type === 'compaction') return checkpoint;
  if (endsTurn && every > 1 && group.turns >= every) return 'every_n_turns';
  if (endsTurn && every === 1) return checkpoint;
  if (checkpoint === 'assistant_message' && atMessages) return checkpoint;
  return hasEvent(commit.entries, events) ? 'event' : undefined;
}

/** Whether something significant happened in a commit. */
function hasEvent(entries: readonly ParsedEntry[], events: ReadonlySet<CheckpointEvent>): boolean {
  if (events.has('error') && entries.some(({ isError }) => isError)) return true;
  return events.has('permission') && entries.some(isPermission);
}

/** Whether an agent asked for a permission, or was refused one. */
const isPermission = ({ kind, text = '', toolName = '' }: ParsedEntry): boolean =>
  kind === 'event' ? /permission|approval/i.test(toolName) : kind === 'tool_result' && refusal.test(text.slice(0, 400));

/** How agents tell a model that a person or a rule refused a call. */
const refusal =
  /^(The user doesn't want to (proceed with|take) this|Permission to use |.{0,80}(haven't granted|requested permissions?)|.{0,60}(rejected by (the )?user|denied by (the )?user|user (rejected|denied|declined)))/is;

const isPlain = ({ type, kept }: PlannedCommit): boolean => type === 'delta' && kept === undefined;

/** Whether a commit can become a part of a group: its content comes after that of the group in the file. */
function follows({ members }: Group, commit: PlannedCommit): boolean {
  const last = members.at(-1) as PlannedCommit;
  const start = commit.ranges[0]?.start;
  return isPlain(last) && isPlain(commit) && last.template === commit.template && start !== undefined && start >= (last.ranges.at(-1)?.end ?? 0);
}

const withPlace = (commit: PlannedCommit, { parent, checkpoint }: Pick<PlannedCommit, 'parent' | 'checkpoint'>): PlannedCommit =>
  Object.defineProperties({} as PlannedCommit, {
    ...Object.getOwnPropertyDescriptors(commit),
    parent: { value: parent, enumerable: true },
    checkpoint: { value: checkpoint, enumerable: true },
  });

function joined(
  members: readonly PlannedCommit[],
  bytes: FileBytes,
  format: ImportableFormat,
  { parent, checkpoint }: Pick<PlannedCommit, 'parent' | 'checkpoint'>,
): PlannedCommit {
  const ranges: ByteRange[] = members.flatMap((member) => member.ranges);
  const summary = members.find((member) => member.summary !== undefined)?.summary;
  const createdAt = members.findLast((member) => member.createdAt !== undefined)?.createdAt;
  const { template, principal, sessionId, startedBy } = members[0] as PlannedCommit;
  let read: ParsedDelta | undefined;
  // A part of a turn can name its entries differently than the whole turn does.
  const content = (): ParsedDelta => (read ??= format.parse(Buffer.concat(ranges.map(({ start, end }) => bytes.subarray(start, end)))));
  return {
    parent,
    type: 'delta',
    checkpoint,
    ranges,
    template,
    ...defined({ principal, sessionId, startedBy, summary, createdAt }),
    records: [...new Set(members.flatMap((member) => member.records))],
    get entries() {
      return content().entries;
    },
    get elisions() {
      return content().elisions;
    },
  };
}

/** The model that the last line in the ranges names, wherever agents write it. */
function lastModel(bytes: FileBytes, ranges: readonly ByteRange[]): string | undefined {
  for (const { start, end } of ranges.toReversed()) {
    const lines = Buffer.from(bytes.subarray(start, end)).toString('utf8').split('\n');
    for (const line of lines.reverse()) {
      const model = line.includes('odel') ? modelIn(line) : undefined;
      if (model !== undefined) return model;
    }
  }
  return undefined;
}

function modelIn(line: string): string | undefined {
  const record = parseJson(line);
  if (!isObject(record)) return undefined;
  const { message, payload, info } = record;
  for (const holder of [message, payload, info, record])
    for (const name of ['model', 'modelId', 'modelID']) {
      const model = stringAt(holder, name);
      if (model !== undefined && model !== '' && model !== '<synthetic>') return model;
    }
  return undefined;
}
