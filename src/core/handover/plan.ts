import { badRequest, inWords, isObject, type JsonObject, notFound } from '../base/index.js';
import { type NewCard, type Profile, profileNamed, readProjectId } from '../cards/index.js';
import type { ReadChain } from '../chain/index.js';
import { type CardContent, cardInput, describeInvalid, type InputOf, type Packing } from '../contract/index.js';

export type PackInput = InputOf<'handover.pack'>;

/** Cards that one rule adds to the box, in order. */
export type CardRun =
  | { readonly reason: 'argument'; readonly argument: string; readonly card: NewCard }
  | { readonly reason: 'inherited'; readonly argument: string; readonly boxId: string; readonly cardIds: readonly string[] }
  | { readonly reason: 'parent'; readonly card: NewCard };

/** The content of a packed box before it is written. */
export interface PackPlan {
  readonly profile: Profile;
  readonly runs: readonly CardRun[];
  readonly dropped: Packing['dropped'];
}

/** Plans a packed box: the profile (H1), cards of arguments (H2), cards of boxes (H3), the parent pointer (H4). @throws as in the rules. */
export function planPack(chain: ReadChain, input: PackInput): PackPlan {
  const { handover } = input;
  if (!handover || Object.keys(handover).length === 0) throw badRequest('handover', 'target_profile_config must resolve to a valid profile_box_id');
  const profile = targetProfile(chain, input.arguments, handover);
  const rules = objectAt(handover, 'context_packing_config', 'handover');
  const packed = cardsFromArguments(input, rules);
  const inheritance = objectAt(rules, 'inherit_context', 'handover.context_packing_config');
  const { runs: inherited, dropped } = inheritedCards(chain, input.arguments, inheritance);
  const parent: CardRun[] = inheritance.include_parent ? [{ reason: 'parent', card: parentPointer(input.sourceAgentId) }] : [];
  return { profile, runs: [...packed, ...inherited, ...parent], dropped };
}

function objectAt(of: JsonObject | Readonly<Record<string, unknown>>, key: string, path: string): JsonObject {
  const member = of[key];
  if (member === undefined || member === null) return {};
  if (!isObject(member)) throw badRequest(`${path}.${key}`, `${key} must be an object, not ${inWords(member)}`);
  return member;
}

/** H1: the profile name of the arguments, else of the handover. */
function targetProfile(chain: ReadChain, args: PackInput['arguments'], handover: Readonly<Record<string, unknown>>): Profile {
  const config = isObject(handover.target_profile_config) ? handover.target_profile_config : {};
  const name = nameIn(args.profile_name) || nameIn(config.profile_name);
  if (name === '') throw badRequest('arguments.profile_name', 'Handover failed: profile_name missing in arguments/target_profile_config');
  const profile = profileNamed(chain, name);
  if (!profile) throw notFound(name, `Handover failed: Profile '${name}' not found in project '${readProjectId(chain)}'`);
  return profile;
}

const nameIn = (value: unknown): string => (value === undefined || value === null ? '' : writeValue(value).trim());

/** H2: strings stay, everything else becomes JSON text. */
const writeValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const resultFields = 'task.result_fields';

function cardsFromArguments({ arguments: args, toolSuffix }: PackInput, rules: JsonObject): CardRun[] {
  const given = rules.pack_arguments ?? [];
  if (!Array.isArray(given)) throw badRequest('handover.context_packing_config.pack_arguments', 'pack_arguments must be a list of rules');
  return given.filter(isObject).flatMap((rule): CardRun[] => {
    const argument = rule.arg_key;
    if (typeof argument !== 'string' || argument === '' || !Object.hasOwn(args, argument)) return [];
    const value = args[argument];
    if (value === null || value === undefined) return [];
    const { as_card_type: type = 'task.instruction' } = rule;
    if (typeof type !== 'string' || type === '') throw badRequest('as_card_type', `as_card_type must be the type of a card, not ${inWords(type)}`);
    const metadata = rule.card_metadata ?? {};
    if (!isObject(metadata)) throw badRequest('card_metadata', `card_metadata must be an object, not ${inWords(metadata)}`);
    const { type: _, ...kept } = metadata;
    return [
      {
        reason: 'argument',
        argument,
        card: wellFormed({ type, content: requireContent(type, value), metadata: { ...kept, role: metadata.role ?? 'user' }, authorId: toolSuffix }),
      },
    ];
  });
}

/** Builds the card of a rule. It must pass the same checks as every card. */
function wellFormed(card: unknown): NewCard {
  const read = cardInput.safeParse(card);
  if (read.success) return read.data;
  const { field, message } = describeInvalid(read.error.issues, card);
  throw badRequest(field === 'input' ? 'card' : field, `a rule makes an invalid card: ${message}`);
}

function requireContent(type: string, value: unknown): CardContent {
  if (type === resultFields) {
    if (!Array.isArray(value)) throw badRequest('task.result_fields', 'task.result_fields must be a list of field objects');
    return { kind: 'fields', fields: value.map(fieldOf) };
  }
  if (typeof value === 'object' && value !== null) return { kind: 'json', data: value as Record<string, unknown> };
  return { kind: 'text', text: writeValue(value) };
}

function fieldOf(item: unknown): { name: string; description: string } {
  const wrong = (why: string): Error => badRequest('task.result_fields', `${inWords(item)} is not a valid field: ${why}`);
  if (!isObject(item)) throw wrong('a field must be {name, description?}');
  const { name, description, ...others } = item;
  if (typeof name !== 'string' || name.trim() === '') throw wrong('it needs a name');
  if (description !== undefined && typeof description !== 'string') throw wrong('its description must be a text');
  const [extra] = Object.keys(others);
  if (extra !== undefined) throw wrong(`the key ${extra} is unknown`);
  return { name: name.trim(), description: (description ?? '').trim() };
}

/** H3: ids in the order of arguments and boxes, each at its first position only. */
function inheritedCards(chain: ReadChain, args: PackInput['arguments'], inheritance: JsonObject): Omit<PackPlan, 'profile'> {
  const names = inheritance.include_boxes_from_args;
  if (!Array.isArray(names)) return { runs: [], dropped: [] };
  const sources = names.flatMap((argument) =>
    typeof argument === 'string' && argument !== '' && Object.hasOwn(args, argument)
      ? boxIdsIn(args[argument], argument).map((boxId) => ({ argument, boxId }))
      : [],
  );
  const contents = idsOfBoxes(chain, [...new Set(sources.map((source) => source.boxId))]);
  const seen = new Set<string>();
  const dropped: { cardId: string; argument: string; boxId: string }[] = [];
  const runs = sources.map(({ argument, boxId }): CardRun => {
    const ids = contents.get(boxId);
    if (!ids) throw notFound(boxId, `inherit_context: box not found: ${boxId}`, { field: `arguments.${argument}` });
    const cardIds: string[] = [];
    for (const cardId of ids) {
      if (seen.has(cardId)) dropped.push({ cardId, argument, boxId });
      else {
        seen.add(cardId);
        cardIds.push(cardId);
      }
    }
    return { reason: 'inherited', argument, boxId, cardIds };
  });
  return { runs, dropped };
}

/** The box ids in an argument. @throws BAD_REQUEST with the argument. */
function boxIdsIn(value: unknown, argument: string): string[] {
  const wrong = (): Error => badRequest(`arguments.${argument}`, `inherit_context.${argument} must be a box_id or list[box_id]`);
  const requireId = (item: unknown): string => {
    if ((typeof item === 'string' && item !== '') || (typeof item === 'number' && Number.isInteger(item))) return String(item);
    throw wrong();
  };
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value.map(requireId) : [requireId(value)];
}

/** Card ids by box, in one query. Unknown boxes are missing in the map. */
function idsOfBoxes(chain: ReadChain, boxIds: readonly string[]): ReadonlyMap<string, string[]> {
  const parts = chain.db.all<{ boxId: string; cardIds: string | null }>(
    `SELECT b.boxId, p.cardIds FROM json_each(?) j JOIN box b ON b.project = ? AND b.boxId = j.value
       LEFT JOIN boxPart p ON p.box = b.no ORDER BY b.no, p.place`,
    [JSON.stringify(boxIds), chain.project],
  );
  const idsIn = ({ cardIds }: (typeof parts)[number]): string[] => (cardIds === null ? [] : (JSON.parse(cardIds) as string[]));
  return new Map([...Map.groupBy(parts, ({ boxId }) => boxId)].map(([boxId, all]) => [boxId, all.flatMap(idsIn)]));
}

const parentPointer = (sourceAgentId: string): NewCard => ({
  type: 'meta.parent_pointer',
  content: { kind: 'json', data: { parent_agent_id: sourceAgentId } },
  metadata: { role: 'system' },
  authorId: sourceAgentId,
});
