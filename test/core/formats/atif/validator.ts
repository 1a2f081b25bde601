import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isObject, type Json, type JsonObject } from '../../../../src/core/base/index.js';
import { root } from '../../../support/source.js';

const schema = JSON.parse(readFileSync(join(root, 'test/fixtures/atif/atif-v1.8.schema.json'), 'utf8')) as object;
const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema);

const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? (value as unknown[]).filter(isObject) : []);

/**
 * What the official validator of ATIF refuses: the schema generated from its models, and the rules that a schema cannot say. With the folder
 * of the document, files that it names must exist.
 */
export function problemsIn(document: JsonObject, folder?: string): string[] {
  const problems = validate(document) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  return [...problems, ...ruleProblems(document, folder)];
}

function ruleProblems(document: JsonObject, folder?: string): string[] {
  const subagents = list(document.subagent_trajectories);
  const ids = subagents.map(({ trajectory_id: id }) => id);
  return [
    ...list(document.steps).flatMap((step, at) => stepProblems(step, at + 1, folder).map((problem) => `step ${at + 1}: ${problem}`)),
    ...ids.flatMap((id, at) => (id == null ? ['a subagent has no trajectory_id'] : ids.indexOf(id) < at ? [`two subagents are ${id}`] : [])),
    ...subagents.flatMap((subagent) => ruleProblems(subagent, folder)),
  ];
}

const ofAgents = ['model_name', 'reasoning_effort', 'reasoning_content', 'tool_calls', 'metrics'];
const isoTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;

function stepProblems(step: JsonObject, number: number, folder: string | undefined): string[] {
  const problems: string[] = [];
  if (step.step_id !== number) problems.push(`step_id is ${String(step.step_id)}`);
  const own = ofAgents.filter((name) => step[name] != null);
  if (step.source !== 'agent' && own.length > 0) problems.push(`only an agent has ${own.join(', ')}`);
  if (step.llm_call_count === 0 && (step.metrics != null || step.reasoning_content != null))
    problems.push('no call to a model, but metrics or reasoning');
  const { timestamp } = step;
  if (timestamp != null && (typeof timestamp !== 'string' || !isoTime.test(timestamp) || Number.isNaN(Date.parse(timestamp))))
    problems.push(`${String(timestamp)} is not a time`);
  const calls = new Set(list(step.tool_calls).map((call) => call.tool_call_id));
  const results = list(isObject(step.observation) ? step.observation.results : undefined);
  for (const { source_call_id: id, subagent_trajectory_ref: refs } of results) {
    if (id != null && !calls.has(id)) problems.push(`the result of ${String(id)} is not of a call of this step`);
    for (const ref of list(refs))
      if (ref.trajectory_id == null && ref.trajectory_path == null) problems.push('a subagent is named only by its session');
  }
  for (const content of [step.message, ...results.map((result) => result.content)]) problems.push(...partProblems(content, folder));
  return problems;
}

function partProblems(content: Json | undefined, folder: string | undefined): string[] {
  return list(content).flatMap((part) => {
    const path = isObject(part.source) ? part.source.path : undefined;
    const isLocal = typeof path === 'string' && !/^\w+:/.test(path);
    return [
      ...(part.type === 'text' ? (part.text == null || part.source != null ? ['a text has no text, or a source'] : []) : []),
      ...(part.type !== 'text' && (part.source == null || part.text != null) ? [`${String(part.type)} has no source, or a text`] : []),
      ...(folder !== undefined && isLocal && !existsSync(join(folder, path)) ? [`${path} does not exist`] : []),
    ];
  });
}
