import { isObject, type JsonObject, parseJson, stringAt, textOf } from '../../base/index.js';
import type { DocumentReader, Member } from '../format.js';
import { objectsIn } from '../shared/drafts.js';
import { isDeep, writeLines } from '../shared/jsonl.js';
import { trajectoryId, versionIn } from './schema.js';

/** Trajectories nest: a subagent's can have subagents of its own. */
const deepest = 16;

/** A trajectory document. Each embedded subagent is a conversation of its own. */
export const document: DocumentReader = {
  keeps: true,
  recognize: (head) => {
    const text = textOf(head);
    return /^\s*\{/.test(text) && /"schema_version"\s*:\s*"ATIF-v1\./.test(text);
  },
  members(bytes) {
    const value = parseJson(textOf(bytes));
    return isObject(value) && !isDeep(value) && versionIn(value) !== undefined ? membersOf(value, undefined, new Set(), 0) : undefined;
  },
};

function membersOf(trajectory: JsonObject, parent: string | undefined, used: Set<string>, depth: number): readonly Member[] {
  const { steps, subagent_trajectories: subagents, ...root } = trajectory;
  let id = trajectoryId(trajectory);
  for (let number = 2; used.has(id); number++) id = `${trajectoryId(trajectory)}-${number}`;
  used.add(id);
  const header = { atif: id, root: { ...root, ...(parent !== undefined && { parent }) } };
  const lines = (Array.isArray(steps) ? steps : []).map((step): JsonObject => (isObject(step) ? { atif: id, step } : { atif: id, row: step }));
  const called = new Map(objectsIn(steps).flatMap(startsIn));
  const own: Member = { id, lines: () => writeLines([header, ...lines]) };
  if (depth >= deepest) return [own];
  const children = objectsIn(subagents).flatMap((child) => {
    const call = called.get(stringAt(child, 'trajectory_id') ?? '');
    return membersOf(call === undefined ? child : { ...child, startedBy: call }, id, used, depth + 1);
  });
  return [own, ...children];
}

/** The trajectories that the results of a step name, with the call of each. */
const startsIn = (step: JsonObject): readonly (readonly [string, string])[] =>
  objectsIn(isObject(step.observation) ? step.observation.results : undefined).flatMap((result) => {
    const call = stringAt(result, 'source_call_id');
    if (call === undefined) return [];
    return objectsIn(result.subagent_trajectory_ref).flatMap((ref): (readonly [string, string])[] => {
      const id = stringAt(ref, 'trajectory_id');
      return id === undefined ? [] : [[id, call]];
    });
  });
