import { badRequest, isObject, type JsonObject, stringAt } from '../base/index.js';
import { isCallRecord } from '../cards/index.js';
import type { Card, Message } from '../contract/index.js';
import { noResult, spacedJson, textOfContent } from '../formats/index.js';

export interface CardRequest {
  readonly messages: Message[];
  readonly tools: Record<string, unknown>[] | null;
}

export interface RequestInput {
  readonly cards: readonly Card[];
  readonly profile: Card | undefined;
  readonly agentId: string;
  readonly tools: readonly Record<string, unknown>[];
  /** Text after the prompt: skills, uploaded files. */
  readonly appendix?: string | undefined;
}

/** The JSON object that a card holds; empty for other content. The data of a profile are its settings. */
export const dataOf = (card: Card | undefined): JsonObject => (card?.content.kind === 'json' && isObject(card.content.data) ? card.content.data : {});

/** The settings that a profile gives to the calls of its agent. */
export function callSettings(profile: Card | undefined): JsonObject {
  const { llm_config: config } = dataOf(profile);
  return isObject(config) ? { ...config } : {};
}

/** Builds a request: the prompt with the required result fields, then the cards as messages (H16). */
export function requestOf({ cards, profile, agentId, tools, appendix }: RequestInput): CardRequest {
  const data = dataOf(profile);
  const prompt = renderPrompt(stringAt(data, 'system_prompt_template') ?? '', {
    display_name: stringAt(data, 'display_name') ?? stringAt(data, 'name') ?? agentId,
  });
  const fields = cards.flatMap((card) => (card.type === 'task.result_fields' && card.content.kind === 'fields' ? card.content.fields : []));
  const asked = fields.map(({ name, description }) => `- ${name}${description ? `: ${description}` : ''}`);
  const system = [prompt, asked.length > 0 ? ['Required result fields:', ...asked].join('\n') : '', appendix].filter(Boolean).join('\n\n');
  const offered = tools.filter((tool) => mayUse(data, nameOfTool(tool)));
  return {
    messages: [{ role: 'system', content: system }, ...toMessages(cards)],
    tools: offered.length ? offered : null,
  };
}

/** Fills the `{names}` of a template. Unknown names stay; `{{` and `}}` are literal braces. @throws BAD_REQUEST for an unbalanced brace. */
export function renderPrompt(template: string, names: Readonly<Record<string, string>>): string {
  const rendered = template.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (found: string, name: string | undefined) => {
    if (found === '{{' || found === '}}') return found.charAt(0);
    if (name === undefined) throw badRequest('system_prompt_template', `the template has an unbalanced ${found}; write {{ and }} for literal braces`);
    return Object.hasOwn(names, name) ? (names[name] ?? '') : found;
  });
  return rendered.trim();
}

/** Converts cards to messages. Roles come from the metadata, not the author (B3). Records of calls are no messages (B17). */
export function toMessages(cards: readonly Card[]): Message[] {
  const said = new Set(cards.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => stringAt(call, 'id'))));
  const answered = new Set(cards.flatMap(({ type, toolCallId }) => (type === 'tool.call' ? [] : [toolCallId])));
  const called = new Set(cards.flatMap(({ type, toolCallId }) => (type === 'tool.call' && toolCallId !== undefined ? [toolCallId] : [])));
  return cards.flatMap((card): Message[] => {
    const { role } = card.metadata;
    if (isCallRecord(card) || card.type === 'task.result_fields') return [];
    if (card.toolCalls?.length) {
      const { reasoning_content: reasoning, thinking } = card.metadata;
      return [
        {
          role,
          content: textOfContent(card.content),
          tool_calls: card.toolCalls,
          ...(role === 'assistant' && typeof reasoning === 'string' && { reasoning_content: reasoning }),
          ...(role === 'assistant' && Array.isArray(thinking) && { thinking }),
        },
      ];
    }
    // A call that no thought contains is sent with its result, or neither is.
    if (card.type === 'tool.call')
      return card.toolCallId !== undefined && !said.has(card.toolCallId) && answered.has(card.toolCallId) ? [callMessage(card)] : [];
    if (card.type === 'tool.result' && !said.has(card.toolCallId) && !called.has(card.toolCallId ?? '')) return [];
    if (card.toolCallId !== undefined) return [{ role, tool_call_id: card.toolCallId, content: resultText(card) }];
    return [{ role, content: textOfContent(card.content) }];
  });
}

const idsOfCalls = ({ tool_calls: calls = [] }: Message): string[] => calls.map((call) => stringAt(call, 'id') ?? '');

/** Each call is answered directly after its message: models accept no other list (B-03). A call without a result gets one that says so. */
export function answeredCalls(messages: readonly Message[]): Message[] {
  const results = new Map(messages.flatMap((message) => (message.role === 'tool' ? [[message.tool_call_id, message]] : [])));
  const open = new Set<string>();
  const close = (): Message[] => {
    const made = [...open].map((id) => results.get(id) ?? { role: 'tool' as const, tool_call_id: id, content: noResult });
    open.clear();
    return made;
  };
  const answered = messages.flatMap((message) => {
    if (message.role === 'tool' && message.tool_call_id !== undefined) return open.delete(message.tool_call_id) ? [message] : [];
    const late = close();
    for (const id of idsOfCalls(message)) open.add(id);
    return [...late, message];
  });
  return [...answered, ...close()];
}

function callMessage(card: Card): Message {
  const data = dataOf(card);
  const call = { name: stringAt(data, 'tool_name') ?? '', arguments: JSON.stringify(data.arguments ?? {}) };
  return { role: 'assistant', content: '', tool_calls: [{ id: card.toolCallId, type: 'function', function: call }] };
}

/** The message text of a result: its result if it succeeded, else only its error. */
function resultText(card: Card): string {
  const data = dataOf(card);
  if (data.status === undefined) return textOfContent(card.content);
  if (data.status !== 'success') return spacedJson({ error: data.error ?? null });
  const result = data.result ?? null;
  return typeof result === 'string' ? result : result === null ? '' : spacedJson(cutStreams(result));
}

const maxStreamLength = 4_000;

/** Shortens command output in a message. The card keeps the full output. */
function cutStreams(result: unknown): unknown {
  if (!isObject(result)) return result;
  const cut = ['stdout', 'stderr'].flatMap((name) => (typeof result[name] === 'string' ? [[name, result[name].slice(0, maxStreamLength)]] : []));
  return { ...result, ...Object.fromEntries(cut) };
}

export const finalTool = 'submit_result';

/** Whether a profile allows a tool. `allowed_internal_tools` decides for the tools that it names, and alone for `submit_result`. */
function mayUse({ allowed_tools: allowed, allowed_internal_tools: own }: JsonObject, name: string | undefined): boolean {
  if (Array.isArray(own) && (name === finalTool || own.length === 0)) return own.includes(name as string);
  if (Array.isArray(own) && own.includes(name as string)) return true;
  return !Array.isArray(allowed) || name === finalTool || allowed.includes(name as string);
}
const nameOfTool = (tool: unknown): string | undefined =>
  typeof tool === 'string' ? tool : isObject(tool) ? (stringAt(tool.function, 'name') ?? stringAt(tool, 'name')) : undefined;

/** The notice and the remaining tools for a model that runs out of steps. It is not stored. */
export function stepBudget<Tool>(stepCount: number, maxSteps: number, tools: readonly Tool[]): { message?: string; tools: Tool[] } {
  const left = maxSteps - stepCount;
  if (left === 2)
    return {
      message: `[SYSTEM ALERT] Execution limits approaching: 2 steps remaining (max_steps=${maxSteps}). Start consolidating results now and plan to call submit_result in the next step.`,
      tools: [...tools],
    };
  if (left !== 1) return { tools: [...tools] };
  const final = tools.filter((tool) => nameOfTool(tool) === finalTool);
  return {
    message: `[SYSTEM ALERT] Execution limit reached: final step (1/${maxSteps} remaining). You MUST call submit_result now. submit_result MUST be the ONLY tool call.`,
    tools: final.length ? final : [...tools],
  };
}
