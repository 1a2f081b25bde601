import { isObject, type JsonObject, parseJson, textOf } from '../../base/index.js';
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
  const own: Member = { id, lines: () => writeLines([header, ...lines]) };
  if (depth >= deepest) return [own];
  return [own, ...objectsIn(subagents).flatMap((child) => membersOf(child, id, used, depth + 1))];
}
