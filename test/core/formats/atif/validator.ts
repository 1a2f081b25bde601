import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isObject, type JsonObject } from '../../../../src/core/base/index.js';
import { root } from '../../../support/source.js';

const schema = JSON.parse(readFileSync(join(root, 'test/fixtures/atif/atif-v1.8.schema.json'), 'utf8')) as object;
const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema);

const list = (value: unknown): JsonObject[] => (Array.isArray(value) ? (value as unknown[]).filter(isObject) : []);

/** What the official validator of ATIF refuses: the schema generated from its models, and the rules that a schema cannot say. */
export function problemsIn(document: JsonObject, folder?: string): string[] {
  const problems = validate(document) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  for (const [at, step] of list(document.steps).entries()) {
    const say = (text: string): void => void problems.push(`step ${at + 1}: ${text}`);
    if (step.step_id !== at + 1) say(`step_id is ${String(step.step_id)}`);
    const ofAgent = ['model_name', 'reasoning_effort', 'reasoning_content', 'tool_calls', 'metrics'].filter((name) => step[name] != null);
    if (step.source !== 'agent' && ofAgent.length > 0) say(`only an agent has ${ofAgent.join(', ')}`);
    const calls = new Set(list(step.tool_calls).map((call) => call.tool_call_id));
    for (const { source_call_id: id } of list(isObject(step.observation) ? step.observation.results : undefined))
      if (id != null && !calls.has(id)) say(`the result of ${String(id)} is not of a call of this step`);
    if (step.llm_call_count === 0 && (step.metrics != null || step.reasoning_content != null)) say('no call to a model, but metrics or reasoning');
    if (typeof step.timestamp === 'string' && Number.isNaN(Date.parse(step.timestamp))) say(`${step.timestamp} is not a time`);
    for (const part of list(step.message)) {
      if (part.type === 'text' ? 'source' in part : 'text' in part) say('a part has both a text and a source');
      const path = isObject(part.source) ? part.source.path : undefined;
      if (folder !== undefined && typeof path === 'string' && !/^\w+:/.test(path) && !existsSync(join(folder, path))) say(`${path} does not exist`);
    }
  }
  return problems;
}
