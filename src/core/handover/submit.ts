import { isObject, type Json, stringAt } from '../base/index.js';
import type { NewCard } from '../cards/index.js';
import type { CardContent } from '../contract/index.js';

/** Handles `submit_result`: its result and the deliverable, or the refusal for the model. `required` lists the task's fields in order. */
export function submitted(args: Record<string, unknown>, required: readonly string[], toolCallId: string): { complete: boolean; cards: NewCard[] } {
  const refused = (message: string): { complete: boolean; cards: NewCard[] } => {
    const error = { code: 'internal_error', message, source: 'worker' };
    return { complete: false, cards: [resultCard(toolCallId, { status: 'failed', after_execution: 'suspend', result: null, error })] };
  };
  const result = args.result as Json | undefined;
  if (result === undefined || result === null) return refused('submit_result requires args.result');
  const given = isObject(result) && Array.isArray(result.fields) ? result.fields.filter(isObject) : undefined;
  const names = (given ?? []).flatMap((field) => stringAt(field, 'name') ?? []);
  const missing = required.filter((name) => !names.includes(name));
  if (missing.length) return refused(`submit_result missing required fields: [${missing.map((name) => `'${name}'`).join(', ')}]`);
  const value: Json = given ? { fields: ordered(given, required) } : result;
  const content: CardContent =
    typeof value === 'object' && value !== null
      ? { kind: 'json', data: value as Record<string, unknown> }
      : { kind: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) };
  return {
    complete: true,
    cards: [
      resultCard(toolCallId, { status: 'success', after_execution: 'terminate', result: value, error: null }),
      { type: 'task.deliverable', content, metadata: { role: 'assistant' } },
    ],
  };
}

const resultCard = (toolCallId: string, data: Record<string, unknown>): NewCard => ({
  type: 'tool.result',
  toolCallId,
  content: { kind: 'json', data },
  metadata: { role: 'tool', function_name: 'submit_result' },
});

/** Required fields in task order, then the other fields; values as text. */
function ordered(fields: readonly Readonly<Record<string, Json>>[], required: readonly string[]): Json[] {
  const named = fields.map((field) => ({ name: stringAt(field, 'name') ?? '', value: writeAnswerText(field.value) }));
  const first = required.flatMap((name) => named.find((field) => field.name === name) ?? []);
  return [...first, ...named.filter((field) => !required.includes(field.name))];
}

const writeAnswerText = (value: Json | undefined): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
