import { canonicalJson, isObject, type Json, stringAt } from '../../base/index.js';
import type { ReadChain } from '../../chain/index.js';
import type { FieldChange, Request, RequestDiff } from '../../contract/index.js';
import { align } from '../../diff/index.js';
import { parseAnswerId } from '../rebuild/answers.js';
import { parseOwnId } from '../rebuild/own.js';
import { openRebuilder, type RebuiltCall } from '../rebuild/rebuild.js';
import { getRequest, requireCall } from '../rebuild/requests.js';
import { withBlocks, withoutMarks } from '../shared/canonical.js';
import { tokensOfBlock, tokensOfJson, tokensOfMessage } from '../shared/causes.js';
import { membersAt, stringIn } from '../shared/json-ranges.js';
import type { MessageReader } from '../shared/messages.js';
import { textAt } from '../shared/pages.js';
import { isBilling } from '../shared/wire.js';

/** Compares two calls, and tells how much of the first a provider's cache can reuse. @throws NOT_FOUND for an unknown id. */
export function diffRequests(chain: ReadChain, a: string, b: string): RequestDiff {
  // Recorded messages are compared by number. A call rebuilt from entries is compared by content.
  const isRecorded = [a, b].every((id) => parseAnswerId(id) === undefined && parseOwnId(id) === undefined);
  const rebuilder = openRebuilder(chain);
  const sideOf = (id: string): Side =>
    isRecorded ? recordedSide(rebuilder.rebuild(requireCall(chain, id)), rebuilder.reader) : bodySide(getRequest(chain, id));
  const [before, after] = [sideOf(a), sideOf(b)];
  const system = changesOf(before.system, after.system, (index) => `system[${index}]`);
  const tools = toolChanges(before.tools, after.tools);
  const params = mapChanges(before.params, after.params, (name) => name);
  const hunks = align(before.messages.map(alignable), after.messages.map(alignable));
  return {
    system: { same: system.length === 0, changes: system },
    tools,
    params: { same: params.length === 0, changes: params },
    messages: { same: hunks.every((each) => each.op === 'same'), a: before.messages.length, b: after.messages.length, hunks },
    cache: cacheOf(before, after),
  };
}

interface Side {
  readonly tools: readonly Json[];
  readonly system: readonly Json[];
  readonly params: ReadonlyMap<string, Json>;
  readonly messages: readonly Placed[];
}

interface Placed {
  /** Equal for equal messages. */
  readonly name: string;
  readonly role: string;
  readonly tokens: () => number;
  readonly blocks: () => readonly Json[];
}

const recordedSide = ({ members, messages }: RebuiltCall, reader: MessageReader): Side => ({
  ...divideBody(new Map([...members].map(([name, { value }]) => [name, value]))),
  messages: messages.map((no) => placed(reader, no)),
});

const listNames = ['messages', 'input', 'contents'];
const systemNames = ['system', 'instructions', 'systemInstruction', 'system_instruction'];

function bodySide({ body }: Request): Side {
  const name = listNames.find((each) => Array.isArray(body[each]));
  const list = name === undefined ? [] : (body[name] as Json[]);
  return {
    ...divideBody(new Map(Object.entries(body).filter(([each]) => each !== name) as [string, Json][])),
    messages: list.map((message): Placed => {
      const plain = withoutMarks(withBlocks(message));
      const name = canonicalJson(plain);
      return { name, role: stringAt(message, 'role') ?? '', tokens: () => tokensOfMessage(plain), blocks: () => readBlocks(plain) };
    }),
  };
}

function divideBody(members: ReadonlyMap<string, Json>): Omit<Side, 'messages'> {
  const listIn = (name: string): readonly Json[] => {
    const value = members.get(name);
    return value === undefined ? [] : Array.isArray(value) ? value.map(withoutMarks) : [value];
  };
  const system = systemNames.find((name) => members.has(name)) ?? 'system';
  return {
    tools: listIn('tools'),
    // The billing block differs in each call, and caches ignore it.
    system: listIn(system).filter((block) => !isBilling(block)),
    params: new Map([...members].filter(([name]) => name !== 'tools' && name !== system)),
  };
}

const readBlocks = (message: Json): readonly Json[] => (isObject(message) && Array.isArray(message.content) ? (message.content as Json[]) : []);

function placed(reader: MessageReader, no: number): Placed {
  if (no < 0) return { name: `gap ${no}`, role: '', tokens: () => 0, blocks: () => [] };
  const { first, page } = reader.pageOf(no);
  const text = textAt(page, no - first);
  return {
    name: String(no),
    role: stringIn(text, membersAt(text, 0, ['role'])?.get('role')) ?? '',
    tokens: () => tokensOfMessage(reader.valueAt(no)),
    blocks: () => readBlocks(withoutMarks(withBlocks(reader.valueAt(no)))),
  };
}

const alignable = ({ name, role }: Placed) => ({ key: name, content: name, likeness: role });
const isSame = (a: Json, b: Json): boolean => canonicalJson(a) === canonicalJson(b);

function changesOf(a: readonly Json[], b: readonly Json[], pathOf: (index: number) => string): FieldChange[] {
  const alignables = (parts: readonly Json[]) =>
    parts.map((part) => {
      const text = canonicalJson(part);
      return { key: text, content: text, likeness: stringAt(part, 'type') ?? 'text' };
    });
  return align(alignables(a), alignables(b)).flatMap(({ op, aStart, aCount, bStart, bCount }): FieldChange[] => {
    if (op === 'same') return [];
    return Array.from({ length: op === 'removed' ? aCount : bCount }, (_, step) => ({
      op,
      path: pathOf((op === 'removed' ? aStart : bStart) + step),
      ...(op !== 'added' && { a: a[aStart + step] }),
      ...(op !== 'removed' && { b: b[bStart + step] }),
    }));
  });
}

function toolChanges(a: readonly Json[], b: readonly Json[]): RequestDiff['tools'] {
  const byName = (tools: readonly Json[]): Map<string, Json> => new Map(tools.map((tool, index) => [stringAt(tool, 'name') ?? `#${index}`, tool]));
  const [before, after] = [byName(a), byName(b)];
  const changes = mapChanges(before, after, (name) => `tools.${name}`);
  const common = (tools: ReadonlyMap<string, Json>, other: ReadonlyMap<string, Json>): string =>
    JSON.stringify([...tools.keys()].filter((name) => other.has(name)));
  const reordered = common(before, after) !== common(after, before);
  return { same: changes.length === 0 && !reordered, reordered, changes };
}

function mapChanges(a: ReadonlyMap<string, Json>, b: ReadonlyMap<string, Json>, pathOf: (name: string) => string): FieldChange[] {
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((name): FieldChange[] => {
    const [left, right] = [a.get(name), b.get(name)];
    if (left === undefined) return [{ op: 'added', path: pathOf(name), b: right }];
    if (right === undefined) return [{ op: 'removed', path: pathOf(name), a: left }];
    return isSame(left, right) ? [] : [{ op: 'changed', path: pathOf(name), a: left, b: right }];
  });
}

/** Parameters whose change makes a provider's cache of messages useless. */
const messageParameters = ['tool_choice', 'thinking'];

/** The longest common prefix in cache order: tools, system, messages, of one model. A longer or shorter end keeps the cache. */
function cacheOf(a: Side, b: Side): RequestDiff['cache'] {
  let tokens = 0;
  let messages = 0;
  const brokenAt = (path: string | null): RequestDiff['cache'] => ({ prefix: { messages, tokens }, brokenAt: path });
  const isOther = (name: string): boolean => !isSame(a.params.get(name) ?? null, b.params.get(name) ?? null);
  if (isOther('model')) return brokenAt('model');
  for (const part of ['tools', 'system'] as const) {
    const [left, right] = [a[part], b[part]];
    for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
      const [one, other] = [left[index], right[index]];
      if (one === undefined || other === undefined || !isSame(one, other)) return brokenAt(`${part}[${index}]`);
      tokens += part === 'tools' ? tokensOfJson(one) : tokensOfBlock(one);
    }
  }
  const moved = messageParameters.find(isOther);
  if (moved !== undefined) return brokenAt(moved);
  for (; messages < Math.min(a.messages.length, b.messages.length); messages += 1) {
    const [one, other] = [a.messages[messages] as Placed, b.messages[messages] as Placed];
    if (one.name === other.name) {
      tokens += one.tokens();
      continue;
    }
    const path = `messages[${messages}]`;
    if (one.role !== other.role) return brokenAt(path);
    const [left, right] = [one.blocks(), other.blocks()];
    let same = 0;
    for (; same < left.length && same < right.length && isSame(left[same] as Json, right[same] as Json); same += 1)
      tokens += tokensOfBlock(left[same] as Json);
    // The last message may be longer in the second call than in the first, or shorter.
    const isContinued = same === left.length && messages === a.messages.length - 1;
    const isEarlier = same === right.length && messages === b.messages.length - 1;
    return brokenAt(isContinued || isEarlier ? null : `${path}.content[${same}]`);
  }
  return brokenAt(null);
}
