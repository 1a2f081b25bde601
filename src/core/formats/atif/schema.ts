import { createHash } from 'node:crypto';
import { isObject, type Json, type JsonObject, parseInstant, stringAt, type Timestamp, toTimestamp } from '../../base/index.js';
import { objectsIn } from '../shared/drafts.js';
import type { Dialect } from '../shared/jsonl.js';

export const formatId = 'atif-v1';
/** The version to write, unless the document has a newer version. Most readers know this version. */
export const writtenVersion = 'ATIF-v1.7';

/** A trajectory as lines: `{"atif": ID, "root": …}` and `{"atif": ID, "step": …}` for each step. With the id, a delta can be read alone. */
export const dialect: Dialect = {
  beginning: /\{"atif":/g,
  isWhole: (record) => isObject(record.step) || isObject(record.root),
};

/** Marks text that a program wrote in the agent's name, without a call to a model. */
export const byProgram = 'no-call';

export const sources = ['system', 'user', 'agent'] as const;
/** Whether ATIF defines the source of a step. */
export const isSource = (source: Json | undefined): boolean => sources.some((one) => one === source);

/** The step of a line. */
export const readStep = (record: JsonObject): JsonObject | undefined => (isObject(record.step) ? record.step : undefined);
/** The root of a line: the trajectory without its steps. */
export const readRoot = (record: JsonObject): JsonObject | undefined => (isObject(record.root) ? record.root : undefined);

/** The version that a document names; undefined for a document of another kind. */
export function versionIn(document: JsonObject): number | undefined {
  const minor = /^ATIF-v1\.(\d+)/.exec(stringAt(document, 'schema_version') ?? '')?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/** The time of a step. */
export function stepTime(step: JsonObject | undefined): Timestamp | undefined {
  const ms = parseInstant(stringAt(step, 'timestamp') ?? '');
  return ms === undefined ? undefined : toTimestamp(ms);
}

/** Whether a step repeats one of another trajectory, so that a continuation can be read alone. */
export const isCopied = (step: JsonObject): boolean => step.is_copied_context === true;

/**
 * The name of a trajectory. Without an id, it is named by its session, and `of` names its beginning, because other trajectories can have the same
 * session. A continuation's name also contains the steps that it repeats. Without a session, a trajectory is named by its first step. When a
 * trajectory grows, its name stays the same.
 */
export function trajectoryName(document: JsonObject, stepsOf = (): Iterable<unknown> => objectsIn(document.steps)): TrajectoryName {
  const own = stringAt(document, 'trajectory_id') ?? '';
  if (own !== '') return { id: own.slice(0, 200) };
  const session = (stringAt(document, 'session_id') ?? '').slice(0, 180);
  const copied: JsonObject[] = [];
  let first: JsonObject | undefined;
  for (const step of stepsOf()) {
    if (!isObject(step)) continue;
    first ??= step;
    if (!isCopied(step)) break;
    copied.push(step);
  }
  if (session === '') return { id: hashOf([document.agent ?? null, first ?? null]).slice(0, 16) };
  if (copied.length > 0) return { id: `${session}-${hashOf(copied).slice(0, 8)}` };
  if (!first) return { id: session };
  const agent = isObject(document.agent) ? document.agent.name : null;
  return { id: session, of: hashOf([agent ?? null, first.source ?? null, first.message ?? null]).slice(0, 8) };
}

export interface TrajectoryName {
  readonly id: string;
  readonly of?: string;
}

const hashOf = (value: Json): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** The name that a step had in the trajectory from which it was exported. */
export const nameIn = (step: JsonObject): string | undefined =>
  isObject(step.extra) && isObject(step.extra.stemma) ? stringAt(step.extra.stemma, 'name') : undefined;

/** The name of a step in the project. */
export const stepName = (step: JsonObject, line: JsonObject): string => nameIn(step) ?? nameOf(line, String(step.step_id ?? 'step'));

/** The name of a part of a trajectory. Trajectories of one session differ by their beginnings, which `of` names. */
export const nameOf = ({ atif, of }: JsonObject, part: string): string => [atif, ...(typeof of === 'string' ? [of] : []), part].join(':');

/** A message or content as its parts. */
export const readParts = (content: Json | undefined): readonly JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : objectsIn(content);

/** The facts of a step about the management of the context. */
export function managementOf(step: JsonObject): { readonly type: string; readonly boundary: string } | undefined {
  const managed = isObject(step.extra) ? step.extra.context_management : undefined;
  if (!isObject(managed)) return undefined;
  return { type: stringAt(managed, 'type') ?? '', boundary: stringAt(managed, 'boundary') ?? '' };
}

/** Whether the step replaces the context before it. */
export const isReplacing = (step: JsonObject): boolean => step.source === 'system' && managementOf(step)?.boundary === 'replace';

/** Facts of entries that ATIF has no field for, under `extra.stemma.entries`, in the order of the entries. */
export const residualsOf = (step: JsonObject): readonly JsonObject[] =>
  isObject(step.extra) && isObject(step.extra.stemma) ? objectsIn(step.extra.stemma.entries) : [];
