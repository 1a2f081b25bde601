import { type ByteRange, decodeText, isObject, type JsonObject, parseJson } from '../../base/index.js';
import type { DocumentReader, FileBytes, Lines, Member } from '../format.js';
import { objectsIn } from '../shared/drafts.js';
import { valueAt, valuesInFile } from '../shared/json-items.js';
import { isDeep, writeLines } from '../shared/jsonl.js';
import { linesOnDemand } from '../shared/lazy-lines.js';
import { trajectoryId, versionIn } from './schema.js';

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
  readonly id: string;
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
    id: trajectoryId(trajectory),
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
    id: trajectoryId(root, function* () {
      for (const range of steps) yield valueAt(file, range);
    }),
    lines: (header, lineOf) =>
      linesOnDemand(steps.length + 1, (number) => (number === 0 ? header : lineOf(valueAt(file, steps[number - 1] as ByteRange)))),
    subagents: () => itemsAt('subagent_trajectories').flatMap((range) => inFile(file, range) ?? []),
  };
}

function readMembers(trajectory: Trajectory, parent?: string, used: Set<string> = new Set(), depth = 0): readonly Member[] {
  let { id } = trajectory;
  for (let number = 2; used.has(id); number++) id = `${trajectory.id}-${number}`;
  used.add(id);
  const header = { atif: id, root: { ...trajectory.root, ...(parent !== undefined && { parent }) } };
  const wrapStep = (step: unknown): JsonObject => (isObject(step) ? { atif: id, step } : ({ atif: id, row: step ?? null } as JsonObject));
  const own: Member = { id, lines: () => trajectory.lines(header, wrapStep) };
  if (depth >= deepest) return [own];
  return [own, ...[...trajectory.subagents()].flatMap((child) => readMembers(child, id, used, depth + 1))];
}
