import type { ContextId, Process } from '../../../core/contract/index.js';
import type { Client } from '../../client';

/** The first page of a composition, with its layers. */
export type Composition = Awaited<ReturnType<Client['compose']['rows']>>;
export type TrialRow = Composition['rows'][number];

/** The number of rows in a page, and the longest text in it in characters. */
export const pageSize = 50;
export const maxTextLength = 4_000;

export interface Trial {
  readonly process: Process;
  /** Undefined means the setting of the project. */
  readonly sharing: boolean | undefined;
  readonly query: string;
  readonly systemPrompt: string | undefined;
  readonly contexts: Readonly<Record<string, string>>;
}

/** No changes: the context as recorded. */
export const asRecorded: Trial = { process: 'sequential', sharing: undefined, query: '', systemPrompt: undefined, contexts: {} };

/** The input of `compose.preview` and `compose.rows` for a trial. */
export const trialInput = (id: ContextId, trial: Trial) => ({
  id,
  process: trial.process,
  ...(trial.sharing !== undefined && { enableShareContext: trial.sharing }),
  ...(trial.query.trim() !== '' && { query: trial.query }),
  ...(trial.systemPrompt !== undefined && { systemPrompt: trial.systemPrompt }),
  ...(Object.keys(trial.contexts).length > 0 && { contexts: trial.contexts }),
});

/** The initial text of a layer's editor: the tried text, otherwise the recorded text. */
export const textToEdit = (trial: Trial, layer: string, base: Composition, now: Composition): string =>
  layer === 'system_prompt' ? (trial.systemPrompt ?? now.texts?.now[layer] ?? '') : (trial.contexts[layer] ?? base.texts?.recorded[layer] ?? '');

/** The trial with another text for a layer. */
export const withText = (trial: Trial, layer: string, text: string): Trial =>
  layer === 'system_prompt' ? { ...trial, systemPrompt: text } : { ...trial, contexts: { ...trial.contexts, [layer]: text } };

/** Whether a trial replaces the text of a layer. */
export const isTried = (trial: Trial, layer: string): boolean =>
  layer === 'system_prompt' ? trial.systemPrompt !== undefined : Object.hasOwn(trial.contexts, layer);
