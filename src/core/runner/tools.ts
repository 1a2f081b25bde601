import { once, parseJson, StemmaError } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import { untrusted } from '../composer/index.js';
import { z } from '../contract/index.js';
import { finalTool } from '../handover/index.js';
import { cardTools } from './card-tools.js';
import { handoverTools } from './handover-tools.js';
import { readingTools } from './reading-tools.js';
import { spaceTools } from './space-tools.js';
import { ticketTools } from './ticket-tools.js';
import { type Actor, type Handed, quoted, type Tool } from './tool.js';

const tools: readonly Tool[] = [...handoverTools, ...readingTools, ...spaceTools, ...cardTools, ...ticketTools];

const byName = new Map(tools.map((each) => [each.name, each]));

interface Definition {
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
}

const plain = <Value>(value: Value): Value => parseJson(JSON.stringify(value)) as Value;

/** Made at first use, because it takes longer than to load everything else here. */
const defined = once((): readonly Definition[] =>
  tools.map(({ name, description, schema }) => ({
    name,
    description,
    parameters: plain({ ...z.toJSONSchema(schema, { io: 'input' }), $schema: undefined }),
  })),
);

const final: Definition = {
  name: finalTool,
  description: 'Ends the turn with its result: a text, an object, or { fields: [{ name, value }] } where fields are required.',
  parameters: { type: 'object', properties: { result: {} }, required: ['result'] },
};

/** The definitions of the offered tools of a card turn, in the form of chat completions. */
export const definitions = (only: readonly string[]): Record<string, unknown>[] =>
  [...defined(), final].filter(({ name }) => only.includes(name)).map((each) => ({ type: 'function', function: each }));

/** The definitions of the offered tools of a conversation, in the form of the Messages API. */
export const conversationTools = (only: readonly string[]): Record<string, unknown>[] =>
  defined().flatMap(({ name, description, parameters }) => (only.includes(name) ? [{ name, description, input_schema: parameters }] : []));

/** The answer of a tool of Stemma. A refusal is also an answer, which the model reads. */
export interface ToolAnswer {
  readonly status: 'success' | 'failed';
  readonly result: unknown;
  readonly handed?: Handed | undefined;
  readonly pauses?: boolean | undefined;
}

/**
 * Answers a call with a tool of Stemma. Undefined if Stemma has no tool of this name. Bugs are thrown.
 * @param only the tools that the performer is offered; a call of another one is refused
 * @param keep stores the answer in the same transaction as the effect of the tool. A tool that refuses has no effect.
 */
export function answered(
  chain: WriteChain,
  only: readonly string[],
  actor: Actor,
  name: string,
  given: unknown,
  keep: (answer: ToolAnswer) => void = () => {},
): ToolAnswer | undefined {
  const found = byName.get(name);
  if (!found && name !== finalTool) return undefined;
  const kept = (work: () => ToolAnswer): ToolAnswer =>
    chain.artifacts.transaction(() => {
      const answer = work();
      keep(answer);
      return answer;
    });
  const refused = (result: string): ToolAnswer => kept(() => ({ status: 'failed', result }));
  if (!found || !only.includes(name)) return refused(`UNAUTHORIZED: you are not offered the tool ${name}.`);
  const input = found.schema.safeParse(given);
  if (!input.success) return refused(`The arguments of ${name} are not valid: ${z.prettifyError(input.error)}`);
  try {
    return kept(() => {
      const { result = null, ...more } = found.run(chain, actor, input.data);
      return { status: 'success', result: found.quotes ? quoted(result) : result, ...more };
    });
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
    return refused(`${untrusted}\n\n${error.code}: ${error.message}`);
  }
}
