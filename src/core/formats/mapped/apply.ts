import { JSONPathEnvironment } from 'json-p3';
import { defined, isObject, type Json, type JsonObject, parseJson } from '../../base/index.js';
import { type MappingGroup, type MappingRule, roles, type Selector } from '../../contract/index.js';
import { usageIn } from '../shared/drafts.js';
import { instant } from '../shared/wrapped.js';
import { typeNameOf, unreadMark } from './parse.js';
import type { MappingRules } from './rules.js';

const environment = new JSONPathEnvironment();

interface Scope {
  readonly value: Json;
  readonly record: Json;
}

type Read = (scope: Scope) => readonly Json[];
type Test = (scope: Scope) => boolean;

export type Applied = ReturnType<typeof prepare>;

const ready = new WeakMap<MappingRules, Applied>();

/** A mapping that was prepared once. @throws Error that names the selector with an invalid JSONPath or role. */
export function applied(mapping: MappingRules): Applied {
  const prepared = ready.get(mapping) ?? prepare(mapping);
  ready.set(mapping, prepared);
  return prepared;
}

function prepare(mapping: MappingRules) {
  const { session = {}, record = {} } = mapping;
  const ofSession = (name: 'id' | 'title' | 'cwd' | 'machine'): Read => reader(session[name], `session.${name}`);
  const ofRecord = (name: 'id' | 'parent' | 'at' | 'call' | 'model'): Read => reader(record[name], `record.${name}`);
  // If every record names its session, folder or machine, the first record counts.
  const facts = { id: first(ofSession('id')), title: ofSession('title'), cwd: first(ofSession('cwd')), machine: first(ofSession('machine')) };
  const [id, parent, at] = [ofRecord('id'), ofRecord('parent'), ofRecord('at')];
  const [call, model] = [first(ofRecord('call')), first(ofRecord('model'))];
  const counted = usageReader(record.usage, 'record.usage');
  const makers = mapping.entries.map((one, at) => ('of' in one ? groupMaker(one, `entries.${at}`) : ruleMaker(one, `entries.${at}`)));
  const recognize = mapping.recognize === undefined ? undefined : selection(mapping.recognize, 'recognize');
  return {
    recognizes: (document: Json): boolean => recognize === undefined || recognize(document).length > 0,
    sessions: selection(mapping.sessions ?? '$', 'sessions'),
    records: selection(mapping.records ?? '$[*]', 'records'),
    about: (value: Json, fact: keyof typeof facts): string | undefined => joinTexts(facts[fact]({ value, record: value })),
    place: (value: Json) => {
      const scope = { value, record: value };
      return { id: joinTexts(id(scope)), parent: joinTexts(parent(scope)), at: at(scope)[0] };
    },
    /** The model call that a record belongs to, with its tokens and its model if the record contains them. */
    callOf: (value: Json) => {
      const scope = { value, record: value };
      return { call: joinTexts(call(scope)), usage: counted?.(scope), model: joinTexts(model(scope)) };
    },
    /** The entries of a record, as lines without keys. */
    entries: (value: Json): readonly JsonObject[] => countedOnce(makers.flatMap((make) => make({ value, record: value }) ?? [])),
  };
}

const first =
  (read: Read): Read =>
  (scope) =>
    read(scope).slice(0, 1);

function countedOnce(entries: readonly JsonObject[]): readonly JsonObject[] {
  const first = entries.findIndex(({ usage }) => usage !== undefined);
  return entries.map((entry, at) => {
    if (at <= first || entry.usage === undefined) return entry;
    const { usage: _, ...rest } = entry;
    return rest as JsonObject;
  });
}

/** Selects the values at a path. */
function selection(path: string, place: string): (value: Json) => readonly Json[] {
  try {
    const query = environment.compile(path);
    return (value) => query.query(value as never).values() as Json[];
  } catch (error) {
    throw new Error(`${place}: ${JSON.stringify(path)} is no JSONPath: ${(error as Error).message}`);
  }
}

/** Reads a selector: a path of the value or, after `^`, of the record; or a text. */
function reader(selector: Selector | undefined, place: string): Read {
  if (selector === undefined) return () => [];
  const { path, json, texts, map, else: otherwise } = typeof selector === 'string' ? { path: selector } : selector;
  const [, up = '', rest = ''] = /^(\^?)([\s\S]*)$/.exec(path) ?? [];
  if (!rest.startsWith('$')) return () => [path];
  const select = selection(rest, place);
  return ({ value, record }) => {
    const found = select(up === '' ? value : record);
    const plain = texts ? found.flatMap((one): Json[] => (Array.isArray(one) ? one : [one]).filter((each) => typeof each === 'string')) : found;
    const read = json ? plain.map((one) => (typeof one === 'string' ? (parseJson(one) ?? one) : one)) : plain;
    const mapped = map
      ? read.flatMap((one): Json[] =>
          typeof one === 'string' && Object.hasOwn(map, one) ? [map[one] as string] : otherwise === undefined ? [one] : [],
        )
      : read;
    return mapped.length === 0 && otherwise !== undefined ? [otherwise] : mapped;
  };
}

/** A filter applies to the members of a list, so the value is wrapped in a list. */
function tester(test: string | undefined, place: string): Test | undefined {
  if (test === undefined) return undefined;
  const select = selection(`$[?${test}]`, place);
  return ({ value }) => select([value]).length > 0;
}

function joinTexts(values: readonly Json[]): string | undefined {
  const texts = values.flatMap((value) => (value === null ? [] : [typeof value === 'string' ? value : JSON.stringify(value)]));
  return texts.length === 0 ? undefined : texts.join('\n');
}

/** The entries of a value; undefined if the value does not match the rule. */
type Maker = (scope: Scope) => readonly JsonObject[] | undefined;

function groupMaker({ when, each, of }: MappingGroup, place: string): Maker {
  const [test, select] = [tester(when, `${place}.when`), selection(each, `${place}.each`)];
  const makers = of.map((rule, at) => ruleMaker(rule, `${place}.of.${at}`));
  return (scope) => {
    if (test && !test(scope)) return undefined;
    return select(scope.value).flatMap((value) => {
      const made = makers.map((make) => make({ value, record: scope.record })).filter((entries) => entries !== undefined);
      return made.length === 0 ? [unreadEntry(value)] : made.flat();
    });
  };
}

const unreadEntry = (value: Json): JsonObject => ({
  role: 'system',
  kind: 'event',
  toolName: typeNameOf(value),
  result: value,
  marks: ['hidden', unreadMark],
});

const defaultRoles: Readonly<Record<MappingRule['kind'], string>> = {
  text: 'assistant',
  thinking: 'assistant',
  tool_call: 'assistant',
  tool_result: 'tool',
  image: 'user',
  summary: 'user',
  event: 'system',
};

function ownMarks(kind: MappingRule['kind'], hasCounts: boolean, isSigned: boolean, isAdded = false): string[] {
  if (kind === 'event') return hasCounts ? ['hidden', 'beside'] : ['hidden'];
  if (kind === 'thinking' && isSigned) return ['signed'];
  return isAdded ? ['meta'] : [];
}

/** Whether an entry of a kind would be empty: it has neither the text nor the image that the kind requires. */
function isEmpty(kind: MappingRule['kind'], text: string | undefined, image: string | undefined): boolean {
  if (kind === 'image') return image === undefined;
  if (kind === 'thinking') return text === undefined;
  return (kind === 'text' || kind === 'summary') && !text;
}

const selected = ['role', 'text', 'toolName', 'toolCallId', 'arguments', 'author', 'agent', 'at', 'signature', 'image'] as const;

function ruleMaker(rule: MappingRule, place: string): Maker {
  checkRole(rule.role, `${place}.role`);
  const test = tester(rule.when, `${place}.when`);
  const each = rule.each === undefined ? undefined : selection(rule.each, `${place}.each`);
  const failed = tester(rule.isError, `${place}.isError`);
  const added = tester(rule.isAdded, `${place}.isAdded`);
  const read = Object.fromEntries(selected.map((name) => [name, reader(rule[name], `${place}.${name}`)])) as Record<(typeof selected)[number], Read>;
  const usage = usageReader(rule.usage, `${place}.usage`);
  const make = (scope: Scope): JsonObject | undefined => {
    const text = joinTexts(read.text(scope));
    const [input] = read.arguments(scope);
    const image = joinTexts(read.image(scope));
    const signature = joinTexts(read.signature(scope));
    if (isEmpty(rule.kind, text, image)) return undefined;
    const inline = image === undefined ? null : /^data:([^;,]+)[^,]*;base64,(.*)$/s.exec(image);
    const at = instant(read.at(scope)[0]);
    const agent = joinTexts(read.agent(scope));
    const counted = usage?.(scope);
    // A run that ended before its first call has a sum of zeros.
    const counts = rule.kind === 'event' && counted && Object.values(counted).every((count) => !count) ? undefined : counted;
    const marks = [...ownMarks(rule.kind, counts !== undefined, signature !== undefined, added?.(scope)), ...(agent === undefined ? [] : ['agent'])];
    return {
      role: joinTexts(read.role(scope)) ?? defaultRoles[rule.kind],
      kind: rule.kind,
      ...defined({
        text,
        toolName: joinTexts(read.toolName(scope)) ?? (rule.kind === 'tool_call' ? '' : undefined),
        toolCallId: joinTexts(read.toolCallId(scope)),
      }),
      ...(rule.kind === 'tool_call' && { arguments: input === undefined ? {} : input }),
      ...(rule.kind === 'event' && { result: scope.value }),
      ...(signature !== undefined && rule.kind === 'thinking' && { result: { signature } }),
      ...(inline ? { media: { mediaType: inline[1] as string, data: inline[2] as string } } : image !== undefined && { result: image }),
      ...(failed?.(scope) && { isError: true }),
      ...defined({ author: agent ?? joinTexts(read.author(scope)), timestamp: at }),
      ...(marks.length > 0 && { marks }),
      ...(counts && { usage: counts }),
    };
  };
  return (scope) => {
    if (test && !test(scope)) return undefined;
    const values = each ? each(scope.value) : [scope.value];
    return values.map((value) => make({ value, record: scope.record })).filter((entry) => entry !== undefined);
  };
}

/** Checks the literal roles of a rule; a path is read later. @throws Error that names the wrong role. */
function checkRole(role: Selector | undefined, place: string): void {
  const { path, map = {}, else: otherwise } = typeof role === 'object' ? role : { path: role };
  const fixed = [path, otherwise, ...Object.values(map)].filter((name) => name !== undefined && !/^\^?\$/.test(name));
  const wrong = fixed.find((name) => !(roles as readonly (string | undefined)[]).includes(name));
  if (wrong !== undefined) throw new Error(`${place}: ${JSON.stringify(wrong)} is no role. Use a path, or one of ${roles.join(', ')}`);
}

function usageReader(usage: MappingRule['usage'], place: string): ((scope: Scope) => JsonObject | undefined) | undefined {
  if (!usage) return undefined;
  const counted = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;
  const read = counted.map((name) => [name, reader(usage[name], `${place}.${name}`)] as const);
  return (scope) => {
    const counts = usageIn(Object.fromEntries(read.map(([name, one]) => [name, one(scope)[0]])), usage.includesCache ? 'within' : 'beside');
    // Counts of cached tokens alone do not count a call.
    return counts && (counts.input !== null || counts.output !== null || counts.countFlaw !== undefined) ? { ...counts } : undefined;
  };
}

/** A record of a document as an object, as records of containers are kept. */
export const asRecord = (value: Json): JsonObject => (isObject(value) ? value : { value });
