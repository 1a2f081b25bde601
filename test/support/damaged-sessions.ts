import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tips } from '../../src/core/chain/index.js';
import type { SessionProblemKind } from '../../src/core/contract/index.js';
import { exportContext } from '../../src/core/export/index.js';
import { importInto } from './imports.js';
import { emptyChain, scratch } from './project.js';

/** The agents whose damaged sessions are tried, and the format of their files. */
export const damagedAgents = {
  claude: 'claude-code-v1',
  codex: 'codex-v1',
  pi: 'pi-v1',
  gemini: 'gemini-v1',
  copilot: 'copilot-cli-v1',
  qwen: 'qwen-code-v1',
} as const;

export type DamagedAgent = keyof typeof damagedAgents;

type Value = null | boolean | number | string | Value[] | { [name: string]: Value };
type Line = { [name: string]: Value };

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Changes every string and leaves out every member and item that `isDropped` names. */
function mapped(value: Value, change: (text: string) => string, isDropped: (value: Value, name: string) => boolean = () => false): Value {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.flatMap((one) => (isDropped(one, '') ? [] : [mapped(one, change, isDropped)]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (isDropped(one, name) ? [] : [[name, mapped(one, change, isDropped)] as const])),
  );
}

const replaced =
  (from: string, to: string) =>
  (line: Line): Line[] => [mapped(line, (text) => text.replaceAll(from, to)) as Line];

const holds = (value: Value, text: string): boolean => JSON.stringify(value).includes(text);
const without = (isDropped: (value: Value, name: string) => boolean) => (line: Line) => [mapped(line, (text) => text, isDropped) as Line];
const isCall = (value: Value): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !('message' in value) && holds(value, 'first command');
const isSeal = (_: Value, name: string): boolean => /^(signature|thinkingSignature|thoughtSignature|encrypted_content)$/.test(name);

/** The lines of a sound session with one kind of damage. */
const damages: Readonly<Record<SessionProblemKind, (line: Line) => (Line | string)[]>> = {
  orphan_result: (line) =>
    holds(line, 'first command') && !holds(line, 'first answer') ? [] : without((value, name) => name === '' && isCall(value))(line),
  unanswered_call: (line) => (holds(line, 'first output') ? [] : [line]),
  empty_thinking: (line) => replaced('first thought', '')(without(isSeal)(line)[0] as Line),
  unsigned_thinking: without(isSeal),
  empty_text: replaced('first answer', ''),
  lone_surrogate: replaced('first ', 'first \ud83d '),
  nul: replaced('first ', 'first \0 '),
  large_image: replaced(png, `${png.slice(0, -3)}${'A'.repeat(7_000_000)}`),
  broken_parent: (line) => {
    const parent = 'parentUuid' in line ? 'parentUuid' : 'parentId' in line ? 'parentId' : undefined;
    return [parent !== undefined && holds(line, 'second prompt') ? { ...line, [parent]: '00000000-0000-4000-8000-00000000dead' } : line];
  },
  torn_line: (line) => {
    const text = JSON.stringify(line);
    return holds(line, 'first output') ? [text.slice(0, text.length / 2)] : [text];
  },
};

export const damageKinds = Object.keys(damages) as readonly SessionProblemKind[];

/** Lines whose predecessors are gone follow what was before these. */
function joined(before: readonly Line[], after: readonly (Line | string)[]): (Line | string)[] {
  const parentOf = new Map(before.map((line) => [line.uuid ?? line.id, line.parentUuid ?? line.parentId]));
  const kept = new Set(after.map((line) => (typeof line === 'string' ? undefined : (line.uuid ?? line.id))));
  const living = (parent: Value | undefined): Value | undefined =>
    !parentOf.has(parent) || kept.has(parent) ? parent : living(parentOf.get(parent));
  return after.map((line) => {
    if (typeof line === 'string') return line;
    const parent = 'parentUuid' in line ? 'parentUuid' : 'parentId' in line ? 'parentId' : undefined;
    return parent === undefined ? line : { ...line, [parent]: living(line[parent]) ?? null };
  });
}

/** A sound session of an agent: a prompt with an image, thinking, a call with its result, and a second prompt. */
function soundSession(agent: DamagedAgent): Line[] {
  const chain = emptyChain();
  const path = join(scratch(), '11111111-1111-4111-8111-111111111111.jsonl');
  writeFileSync(path, claudeLines());
  importInto(chain, path);
  const [tip] = tips(chain, {});
  if (!tip) throw new Error('the sound session was not imported');
  const { text = '' } = exportContext(chain, { id: tip.id, format: damagedAgents[agent] });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => sealed(JSON.parse(line) as Line));
}

/** Codex keeps reasoning as an item that its provider sealed. */
function sealed(line: Line): Line {
  if (line.type !== 'event_msg' || !holds(line, 'first thought')) return line;
  const summary = [{ type: 'summary_text', text: 'first thought' }];
  return { ...line, type: 'response_item', payload: { type: 'reasoning', summary, content: null, encrypted_content: 'c2VhbGVk' } };
}

function claudeLines(): string {
  const said = (id: string, block: object) => [
    'assistant',
    { id, type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [block], usage: { input_tokens: 100, output_tokens: 10 } },
  ];
  const asked = (content: string | object[]) => ['user', { role: 'user', content }];
  const idAt = (at: number): string => `00000000-0000-4000-8000-0000000000${String(at).padStart(2, '0')}`;
  return [
    asked([
      { type: 'text', text: 'first prompt' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
    ]),
    said('msg_1', { type: 'thinking', thinking: 'first thought', signature: 'c2lnbmVk' }),
    said('msg_1', { type: 'text', text: 'first answer' }),
    said('msg_1', { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'first command' } }),
    asked([{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'first output' }]),
    said('msg_2', { type: 'text', text: 'second answer' }),
    asked('second prompt'),
    said('msg_3', { type: 'text', text: 'third answer' }),
  ]
    .map(([type, message], at) =>
      JSON.stringify({
        ...{ parentUuid: at === 0 ? null : idAt(at - 1), isSidechain: false, cwd: '/work', sessionId: '11111111-1111-4111-8111-111111111111' },
        ...{ version: '2.1.300', type, message, uuid: idAt(at), timestamp: new Date(Date.UTC(2026, 8, 3, 9, 0, at)).toISOString() },
      }),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** The file of a session of an agent with one kind of damage, or with none. */
export function damagedSession(agent: DamagedAgent, kind: SessionProblemKind | null): string {
  const before = soundSession(agent);
  const after = kind === null ? before : joined(before, before.flatMap(damages[kind]));
  return after.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}
