import { badRequest, isObject, stringAt } from '../base/index.js';
import type { Card, Message } from '../contract/index.js';
import { spacedJson, textOfContent } from '../formats/index.js';

/** A call to a model, as cards make it. */
export interface Request {
  readonly messages: Message[];
  readonly tools: Record<string, unknown>[] | null;
}

export interface RequestInput {
  /** What the model sees, in order. */
  readonly cards: readonly Card[];
  readonly profile: Card | undefined;
  readonly agentId: string;
  readonly tools: readonly Record<string, unknown>[];
  /** What follows the prompt: skills, uploaded files. */
  readonly appendix?: string | undefined;
}

/** The prompt first, then the cards as messages; fields that the result must have stand in the prompt (H16). */
export function requestOf({ cards, profile, agentId, tools, appendix }: RequestInput): Request {
  const data = profile?.content.kind === 'json' && isObject(profile.content.data) ? profile.content.data : {};
  const prompt = renderPrompt(stringAt(data, 'system_prompt_template') ?? '', {
    display_name: stringAt(data, 'display_name') ?? stringAt(data, 'name') ?? agentId,
  });
  const fields = cards.flatMap((card) => (card.type === 'task.result_fields' && card.content.kind === 'fields' ? card.content.fields : []));
  const asked = fields.length
    ? ['Required result fields:', ...fields.map(({ name, description }) => `- ${name}${description ? `: ${description}` : ''}`)].join('\n')
    : '';
  const system = [prompt, asked, appendix ?? ''].filter((part) => part !== '').join('\n\n');
  const allowed = Array.isArray(data.allowed_tools) ? data.allowed_tools : undefined;
  const offered = allowed ? tools.filter((tool) => allowed.includes(nameOfTool(tool)) || nameOfTool(tool) === finalTool) : [...tools];
  return {
    messages: [{ role: 'system', content: system }, ...messagesOf(cards.filter((card) => card.type !== 'task.result_fields'))],
    tools: offered.length ? offered : null,
  };
}

/**
 * A prompt's template with its `{names}` filled in; a name that is not known stays as it stands, `{{` and `}}` are braces.
 * @throws BAD_REQUEST for a brace without its other one.
 */
export function renderPrompt(template: string, names: Readonly<Record<string, string>>): string {
  const rendered = template.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (found: string, name: string | undefined) => {
    if (found === '{{' || found === '}}') return found.charAt(0);
    if (name === undefined)
      throw badRequest('system_prompt_template', `the template has a ${found} without its other one; {{ and }} stand for braces`);
    return Object.hasOwn(names, name) ? (names[name] ?? '') : found;
  });
  return rendered.trim();
}

/** Cards as messages, in their order. The role is the metadata's, whoever the author is (B3). */
export function messagesOf(cards: readonly Card[]): Message[] {
  return cards.flatMap((card): Message[] => {
    const { role } = card.metadata;
    if (card.type === 'sys.tools') return [];
    if (card.toolCalls?.length) {
      const reasoning = card.metadata.reasoning_content;
      return [
        {
          role,
          content: textOfContent(card.content),
          tool_calls: card.toolCalls,
          ...(role === 'assistant' && typeof reasoning === 'string' && { reasoning_content: reasoning }),
        },
      ];
    }
    if (card.type === 'tool.call') return [];
    if (card.toolCallId !== undefined) return [{ role, tool_call_id: card.toolCallId, content: resultText(card) }];
    return [{ role, content: textOfContent(card.content) }];
  });
}

/** A success is its result, a failure its error and nothing else. */
function resultText(card: Card): string {
  const data = card.content.kind === 'json' && isObject(card.content.data) ? card.content.data : undefined;
  if (data?.status === undefined) return textOfContent(card.content);
  if (data.status !== 'success') return spacedJson({ error: data.error ?? null });
  const result = data.result ?? null;
  return typeof result === 'string' ? result : result === null ? '' : spacedJson(cutStreams(result));
}

const longestStream = 4_000;

/** What a command printed is cut in a message; the card keeps it. */
const cutStreams = (result: unknown): unknown =>
  isObject(result)
    ? Object.fromEntries(
        Object.entries(result).map(([key, value]) => [
          key,
          (key === 'stdout' || key === 'stderr') && typeof value === 'string' ? value.slice(0, longestStream) : value,
        ]),
      )
    : result;

const finalTool = 'submit_result';
const nameOfTool = (tool: unknown): string | undefined =>
  typeof tool === 'string' ? tool : isObject(tool) ? (stringAt(tool.function, 'name') ?? stringAt(tool, 'name')) : undefined;

/** What a model is told when its steps run out, and the tools that it has left. Never stored. */
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
