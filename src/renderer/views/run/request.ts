import type { RequestEdits, TurnRequest } from '../../../core/contract/index.js';

export interface RequestDraft {
  readonly system: readonly string[];
  /** Each tool's definition as JSON. */
  readonly tools: readonly { readonly json: string; readonly isUsed: boolean }[];
  /** The settings as JSON; null while they are unchanged, so that they follow the wire format of the chosen provider. */
  readonly settings: string | null;
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** The draft of an unchanged request. */
export const draftOf = (request: TurnRequest): RequestDraft => ({
  system: request.system,
  tools: request.tools.map((tool) => ({ json: json(tool), isUsed: true })),
  settings: null,
});

/** The settings of a request as formatted JSON. */
export const writeSettings = (request: TurnRequest): string => json(request.settings);

/** The changes of a draft, or the reason why it cannot be sent. */
export type Edited = { readonly edits: RequestEdits | undefined } | { readonly problem: string };

/** Compares a draft with its request. `edits` is undefined if nothing changed; `problem` names the part that is not valid JSON. */
export function editsOf(draft: RequestDraft, request: TurnRequest): Edited {
  const original = draftOf(request);
  const used = draft.tools.filter((tool) => tool.isUsed);
  const isSame = {
    system: json(draft.system) === json(original.system),
    tools: json(used.map((tool) => tool.json)) === json(original.tools.map((tool) => tool.json)),
    settings: draft.settings === null || draft.settings === writeSettings(request),
  };
  const tools = used.map((tool, n) => objectIn(tool.json, `Tool ${n + 1}`));
  const settings = objectIn(draft.settings ?? writeSettings(request), 'Settings');
  const problem = [...(isSame.tools ? [] : tools), ...(isSame.settings ? [] : [settings])].find((parsed) => 'problem' in parsed);
  if (problem && 'problem' in problem) return problem;
  const edits: RequestEdits = {
    ...(!isSame.system && { system: draft.system.filter((text) => text.trim() !== '') }),
    ...(!isSame.tools && { tools: tools.flatMap((tool) => ('value' in tool ? [tool.value] : [])) }),
    ...(!isSame.settings && 'value' in settings && { settings: settings.value }),
  };
  return { edits: Object.keys(edits).length ? edits : undefined };
}

function objectIn(text: string, what: string): { readonly value: Record<string, unknown> } | { readonly problem: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value: value as Record<string, unknown> };
    return { problem: `${what} must be a JSON object: { … }` };
  } catch (error) {
    return { problem: `${what} is not valid JSON: ${error instanceof Error ? error.message : ''}` };
  }
}

/** The name in a tool's definition, found even while the JSON is incomplete. */
export function toolName(text: string): string {
  const found = /"name"\s*:\s*"([^"]*)"/.exec(text);
  return found?.[1] || 'Unnamed tool';
}

/** The definition that a new tool starts with. */
export const newTool: RequestDraft['tools'][number] = {
  json: json({ name: 'new_tool', description: '', input_schema: { type: 'object', properties: {} } }),
  isUsed: true,
};
