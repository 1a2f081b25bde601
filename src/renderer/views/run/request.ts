import type { RequestEdits, TurnRequest } from '../../../core/contract/index.js';

/** What a person has changed of a request, as they typed it. */
export interface Draft {
  readonly system: readonly string[];
  /** Each tool's definition as JSON. */
  readonly tools: readonly { readonly json: string; readonly isUsed: boolean }[];
  /** As JSON; null where they are as recorded, in the words of whoever is asked. */
  readonly settings: string | null;
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);

export const draftOf = (request: TurnRequest): Draft => ({
  system: request.system,
  tools: request.tools.map((tool) => ({ json: json(tool), isUsed: true })),
  settings: null,
});

/** Settings as a person reads and changes them. */
export const settingsOf = (request: TurnRequest): string => json(request.settings);

export type Edited = { readonly edits: RequestEdits | undefined } | { readonly problem: string };

/** The changes of a draft as the engine takes them; undefined where nothing is other than it was. What is no JSON is said. */
export function editsOf(draft: Draft, request: TurnRequest): Edited {
  const original = draftOf(request);
  const used = draft.tools.filter((tool) => tool.isUsed);
  const isSame = {
    system: json(draft.system) === json(original.system),
    tools: json(used.map((tool) => tool.json)) === json(original.tools.map((tool) => tool.json)),
    settings: draft.settings === null || draft.settings === settingsOf(request),
  };
  const tools = used.map((tool, n) => objectIn(tool.json, `Tool ${n + 1}`));
  const settings = objectIn(draft.settings ?? settingsOf(request), 'The settings');
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
    return { problem: `${what} must be an object: { … }` };
  } catch (error) {
    return { problem: `${what} is not JSON: ${error instanceof Error ? error.message : ''}` };
  }
}

/** What a tool is called, as far as its definition can be read. */
export function toolName(text: string): string {
  const found = /"name"\s*:\s*"([^"]*)"/.exec(text);
  return found?.[1] || 'Tool without a name';
}
