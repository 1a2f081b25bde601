import type { Wire } from '../../../core/contract/index.js';
import { api } from '../../client';
import { AnswerMemory, type Query, useKeptQuery, useUi } from '../../state';

/** Where a reply can come from: the recording, or a model provider. */
export interface ReplySource {
  readonly id: string;
  readonly title: string;
  readonly wire?: Wire | undefined;
  readonly models: readonly string[];
  readonly problem?: string | undefined;
}

const known = new AnswerMemory<readonly ReplySource[]>(2, 'never');

/** The providers, loaded again each time the Providers sheet opens or closes. */
export function useProviders(): Query<readonly ReplySource[]> {
  const isSheetOpen = useUi(({ sheet }) => sheet?.kind === 'providers');
  return useKeptQuery('', `${isSheetOpen}`, (signal) => api.turn.providers({}, { signal }), known);
}

const remembered = 'stemma.run.provider';

/** The provider of the last run if it is available now; otherwise the recording. */
export function lastProvider(providers: readonly ReplySource[]): string {
  const last = localStorage.getItem(remembered);
  return providers.find((each) => each.id === last && !each.problem)?.id ?? 'recorded';
}

/** Remembers the provider of a run in this window's storage. */
export const rememberProvider = (id: string): void => localStorage.setItem(remembered, id);
