import { type ByteRange, decodeText, defined, isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import type { DocumentReader, FileBytes, Lines, Member } from '../format.js';
import { objectsIn } from '../shared/drafts.js';
import { valueAt, valuesInFile } from '../shared/json-items.js';
import { isDeep, writeLines } from '../shared/jsonl.js';
import { linesOnDemand } from '../shared/lazy-lines.js';
import { type TrajectoryName, trajectoryName, versionIn } from './schema.js';

/** The deepest nesting of trajectories, because a subagent can have subagents. */
const deepest = 16;

/** A trajectory document. Each embedded subagent becomes a separate conversation. */
export const document: DocumentReader = {
  keeps: true,
  recognize: (head) => {
    const text = decodeText(head);
    return /^\s*\{/.test(text) && /"schema_version"\s*:\s*"ATIF-v1\./.test(text);
  },
  members(bytes) {
    const value = parseJson(decodeText(bytes));
    return isObject(value) && !isDeep(value) && versionIn(value) !== undefined ? readMembers(inMemory(value)) : undefined;
  },
  membersInFile(file) {
    const found = inFile(file);
    return found && versionIn(found.root) !== undefined ? readMembers(found) : undefined;
  },
};

const isLarge = (path: string): boolean => path === 'steps' || path === 'subagent_trajectories';

interface Trajectory {
  /** The trajectory without its steps and subagents. */
  readonly root: JsonObject;
  readonly name: TrajectoryName;
  readonly lines: (header: JsonObject, lineOf: (step: unknown) => JsonObject) => Lines;
  readonly subagents: () => Iterable<Trajectory>;
}

/** A document without its lists of steps and subagents. A value in their place that is not a list stays. */
const rootFrom = (document: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(document).filter(([name, value]) => !(isLarge(name) && Array.isArray(value))));

function inMemory(trajectory: JsonObject): Trajectory {
  const { steps, subagent_trajectories: subagents } = trajectory;
  return {
    root: rootFrom(trajectory),
    name: trajectoryName(trajectory),
    lines: (header, lineOf) => writeLines([header, ...(Array.isArray(steps) ? steps : []).map(lineOf)]),
    subagents: () => objectsIn(subagents).map(inMemory),
  };
}

function inFile(file: FileBytes, within?: ByteRange): Trajectory | undefined {
  const [first] = valuesInFile(file, isLarge, within);
  if (!isObject(first?.shell)) return undefined;
  const itemsAt = (path: string): readonly ByteRange[] => first.lists.find((list) => list.path === path)?.items ?? [];
  const root = rootFrom(first.shell);
  const steps = itemsAt('steps');
  return {
    root,
    name: trajectoryName(root, function* () {
      for (const range of steps) yield valueAt(file, range);
    }),
    lines: (header, lineOf) =>
      linesOnDemand(steps.length + 1, (number) => (number === 0 ? header : lineOf(valueAt(file, steps[number - 1] as ByteRange)))),
    subagents: () => itemsAt('subagent_trajectories').flatMap((range) => inFile(file, range) ?? []),
  };
}

function readMembers(trajectory: Trajectory, parent?: string, used: Set<string> = new Set(), depth = 0): readonly Member[] {
  const { name, root } = trajectory;
  let { id } = name;
  for (let number = 2; used.has(id); number++) id = `${name.id}-${number}`;
  used.add(id);
  const model = isObject(root.agent) ? stringAt(root.agent, 'model_name') : undefined;
  const named = { atif: id, ...defined({ of: name.of }) };
  const header = { ...named, root: { ...root, ...(parent !== undefined && { parent }) } };
  const wrapStep = (step: unknown): JsonObject => {
    if (!isObject(step)) return { ...named, row: (step ?? null) as Json };
    // The model of the agent is that of each step that names none. A delta must say so, because it is read alone.
    return { ...named, ...(model && step.source === 'agent' && !stringAt(step, 'model_name') && { model }), step };
  };
  const own: Member = { id, lines: () => trajectory.lines(header, wrapStep) };
  if (depth >= deepest) return [own];
  return [own, ...[...trajectory.subagents()].flatMap((child) => readMembers(child, id, used, depth + 1))];
}
