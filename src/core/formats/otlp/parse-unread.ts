import { inWords, type JsonObject, stringAt } from '../../base/index.js';
import type { Problem } from '../format.js';
import { exportIn } from './parse-observed.js';
import { messagesAt } from './parse-sent.js';
import { operationNamed, spansIn } from './parse-spans.js';

/** Operations that are read, and those without messages of their own: they frame calls, or are no part of a conversation. */
const framing: ReadonlySet<string> = new Set(
  [
    'chat generate_content text_completion responses llm execute_tool tool invoke_agent agent',
    'create_agent invoke_workflow workflow task plan retrieval embeddings chain retriever embedding reranker guardrail evaluator prompt',
  ].flatMap((names) => names.split(' ')),
);
/** The types of observations of Langfuse and of runs of LangSmith. Only calls and tools are read. */
const observed = {
  type: new Set(['GENERATION', 'TOOL', 'SPAN', 'EVENT', 'AGENT', 'CHAIN', 'RETRIEVER', 'EVALUATOR', 'EMBEDDING', 'GUARDRAIL']),
  run_type: new Set(['llm', 'tool', 'chain', 'retriever', 'embedding', 'prompt', 'parser']),
};

/** The records of unknown kinds, which the conversations do not contain. Each kind is named once. */
export function unknownKinds(values: readonly JsonObject[]): readonly Problem[] {
  const exports = values.map(exportIn);
  const kinds = [
    ...values.flatMap(spansIn).flatMap((span) => {
      const name = operationNamed(span);
      const hasMessages = messagesAt(span, 'input') !== undefined || messagesAt(span, 'output') !== undefined;
      return name === undefined || framing.has(name) || !hasMessages ? [] : [`spans of the operation ${inWords(name)}`];
    }),
    ...exports.flatMap(({ observations }) => observations.flatMap((read) => unknownTypeIn(read(), 'type', 'observations'))),
    ...exports.flatMap(({ runs }) => runs.flatMap((read) => unknownTypeIn(read(), 'run_type', 'runs'))),
  ];
  return [...new Set(kinds)].map((kind) => ({ line: 0, reason: `${kind} are not read, because Stemma does not know them` }));
}

function unknownTypeIn(one: JsonObject, field: keyof typeof observed, what: string): readonly string[] {
  const type = stringAt(one, field);
  return type === undefined || observed[field].has(type) ? [] : [`${what} of the type ${inWords(type)}`];
}
