import type { BoxRow } from '../../core/contract/index.js';
import { api } from '../client';
import { say, textOfContent } from '../parts';
import { dismiss, type FormField, type FormOption, type FormValues, go } from '../state';

const maxOptions = 1_000;

/** The cards that models still see, newest first. */
export async function cardOptions(): Promise<readonly FormOption[]> {
  const { cards } = await api.card.list({ limit: maxOptions });
  return cards
    .filter((card) => card.deletedAt === undefined && !card.expired)
    .map((card) => ({
      value: card.cardId,
      name: `${say.firstLine(textOfContent(card.content), 70) || 'No text'} · ${card.type} · ${say.shortId(card.cardId)}`,
    }));
}

/** The first words, the size and the id of a box. */
export const boxName = ({ head, cards, boxId }: BoxRow): string =>
  `${say.firstLine(head ?? 'Empty', 60)} · ${say.plural(cards, 'card')} · ${say.shortId(boxId)}`;

/** The boxes, most recently changed first. */
export async function boxOptions(): Promise<readonly FormOption[]> {
  const { boxes } = await api.box.list({ limit: maxOptions });
  return boxes.map((box) => ({ value: box.boxId, name: boxName(box) }));
}

/** The profiles by name. */
export async function profileOptions(): Promise<readonly FormOption[]> {
  return (await api.profile.list({})).map(({ name }) => ({ value: name, name }));
}

/** The agents that have turns or are registered. */
export async function agentOptions(): Promise<readonly FormOption[]> {
  const { agents } = await api.handover.map({});
  return agents.map(({ agentId, displayName, status }) => ({ value: agentId, name: `${displayName} · ${status} · ${say.shortId(agentId)}` }));
}

/** The providers that can answer with a model, without the recording. */
export async function providerOptions(): Promise<readonly FormOption[]> {
  const providers = await api.turn.providers({});
  return providers
    .filter(({ id, problem }) => id !== 'recorded' && problem === undefined)
    .map(({ id, title, models }) => ({ value: id, name: models[0] === undefined ? title : `${title} (${models[0]})` }));
}

/** The models that a provider lists: the chosen one, or without a choice all that can answer. None for a command-line agent. */
export function modelsOf(all: readonly Pick<ReplyProvider, 'id' | 'models' | 'problem'>[], { provider, by }: FormValues): readonly FormOption[] {
  if (by === 'agent') return [];
  const providers = all.filter(({ id, problem }) => id !== 'recorded' && (provider ? id === provider : problem === undefined));
  return [...new Set(providers.flatMap(({ models }) => models))].map((name) => ({ value: name, name }));
}

type ReplyProvider = Awaited<ReturnType<typeof api.turn.providers>>[number];

const modelOptions = async (values: FormValues): Promise<readonly FormOption[]> => modelsOf(await api.turn.providers({}), values);

/** The field for the model, with the models of the provider that the form names. */
export const modelField = (hint = 'Leave it empty to use the first model of the provider.'): FormField => ({
  name: 'model',
  label: 'Model',
  options: modelOptions,
  optionsBy: ['by', 'provider'],
  hint,
});

export const providerField: FormField = {
  name: 'provider',
  label: 'Provider',
  kind: 'choice',
  options: providerOptions,
  placeholder: 'Choose a provider',
  required: true,
  offer: {
    words: 'No provider has a model yet.',
    name: 'Add a provider',
    act: () => {
      dismiss();
      go({ view: 'settings', settings: 'providers' });
    },
  },
};
