import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../../src/core/base/index.js';
import { type ImportableFormat, importableFormats, type ParsedEntry } from '../../../src/core/formats/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { root } from '../../support/source.js';

/** What an import makes of a file: all entries, and what it says about lines. */
interface Read {
  readonly entries: readonly ParsedEntry[];
  readonly named: readonly string[];
}

const formatOf = (id: string): ImportableFormat => importableFormats.find((format) => format.id === id) as ImportableFormat;

function read(id: string, text: string, path = '/x/file.json'): Read {
  const format = formatOf(id);
  const bytes = Buffer.from(text);
  const members = (format.exports?.recognize(bytes, path) ? format.exports.members(bytes, path) : undefined)?.map(({ lines }) => lines().bytes) ?? [
    bytes,
  ];
  const plans = members.map((lines) =>
    format.plan(Buffer.from(lines.subarray(0, lines.length)), { path, known: { has: () => false }, resumeAt: 0, granularity: 'turn_boundary' }),
  );
  return {
    entries: plans.flatMap(({ commits }) => commits.flatMap((commit) => commit.entries)),
    named: [...plans.flatMap(({ skipped, notes }) => [...skipped, ...notes]), ...(format.exports?.unread?.(bytes) ?? [])].map(({ reason }) => reason),
  };
}

/** The document or the lines with one value changed: that in the first place where `key` has the value `was`. */
function changed(text: string, key: string, was: string, now: string): string {
  const found = `"${key}":"${was}"`;
  const compact = text
    .split('\n')
    .map((line) => {
      try {
        return JSON.stringify(JSON.parse(line));
      } catch {
        return line;
      }
    })
    .join('\n');
  const whole = compact.includes(found) ? compact : JSON.stringify(JSON.parse(text));
  expect(whole).toContain(found);
  return whole.replace(found, `"${key}":"${now}"`);
}

const fixture = (name: string): string => readFileSync(join(root, 'test/fixtures', name), 'utf8');
const codexFile = 'codex/rollout-2026-11-21T09-05-39-01a1fd5a-a9b9-7ee2-8073-23f98318bbc4.jsonl';

/** The values of events, in which a format keeps what it does not know. */
const eventValues = ({ entries }: Read): unknown[] => entries.flatMap(({ kind, result }) => (kind === 'event' ? [result] : []));

describe('a kind that no version of the format had', () => {
  test.each([
    ['claude-code-v1', 'usage/compacted.jsonl', 'type', 'assistant'],
    ['claude-code-v1', 'usage/compacted.jsonl', 'type', 'user'],
    ['gemini-v1', 'gemini/older.json', 'type', 'gemini'],
    ['pi-v1', 'pi/tour.jsonl', 'type', 'message'],
    ['qwen-code-v1', 'qwen-code/019f0000-001.jsonl', 'type', 'assistant'],
    ['copilot-cli-v1', 'copilot-cli/git-ai-session_events.jsonl', 'type', 'assistant.message'],
    ['cline-v1', 'cline/sdk-session.messages.json', 'type', 'tool_use'],
    ['inspect-eval-v1', 'inspect-eval/events_compaction_boundary.json', 'event', 'compaction'],
    ['inspect-eval-v1', 'inspect-eval/events_branch_explicit.json', 'event', 'branch'],
    ['mapped-v1', 'mapped/antigravity.jsonl', 'type', 'CHECKPOINT'],
    ['mapped-v1', 'mapped/droid.jsonl', 'type', 'message'],
    ['mapped-v1', 'mapped/droid.jsonl', 'type', 'tool_use'],
    ['mapped-v1', 'mapped/kimi.wire.jsonl', 'type', 'tool.call'],
    ['mapped-v1', 'mapped/kimi.wire.jsonl', 'type', 'think'],
    ['mapped-v1', 'mapped/mini-swe-agent.traj.json', 'role', 'user'],
    ['mapped-v1', 'mapped/openhands-v1.jsonl', 'kind', 'ObservationEvent'],
    ['mapped-v1', 'mapped/swe-agent.traj', 'role', 'assistant'],
    ['mapped-v1', 'mapped/vercel-ai.json', 'type', 'reasoning'],
  ])('[F9] %s keeps the record of %s in an event (%s was %s)', (id, name, key, was) => {
    const { entries } = read(id, changed(fixture(name), key, was, 'zzz'), `/x/${name}`);
    const kept = entries.filter(({ kind, ...entry }) => kind === 'event' && JSON.stringify(entry).includes('"zzz"'));
    expect(kept).toHaveLength(1);
    // The whole value is in the event, as it is in the file.
    const raw = changed(fixture(name), key, was, 'zzz');
    const holders: Json[] = [];
    const collect = (value: Json): void => {
      if (isObject(value) && value[key] === 'zzz') holders.push(value);
      for (const one of Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []) collect(one as Json);
    };
    for (const part of raw.startsWith('{') && raw.includes('}\n{') ? raw.trim().split('\n') : [raw]) collect(JSON.parse(part) as Json);
    const largest = Object.values(holders[0] as JsonObject)
      .map((value) => JSON.stringify(value))
      .sort((a, b) => b.length - a.length)[0];
    expect(JSON.stringify(kept[0]?.result)).toContain(largest);
  });

  test.each([
    [codexFile, 'type', 'response_item', 'lines of the type "zzz" are unknown: they are kept, and have no entries'],
    ['otlp/langfuse-adk.json', 'type', 'GENERATION', 'observations of the type "zzz" are not read, because Stemma does not know them'],
    ['cline/sdk-session.messages.json', 'role', 'user', 'the message has the role "zzz" instead of user, assistant, system: it is read as user'],
    [
      'cursor/agent-transcript-simple.jsonl',
      'role',
      'assistant',
      'the message has the role "zzz" instead of user, assistant, system, tool: it is read as user',
    ],
  ])('[F10] the import of %s names it (%s was %s)', (name, key, was, reason) => {
    const path = join(scratch(), name.split('/')[1] as string);
    writeFileSync(path, changed(fixture(name), key, was, 'zzz'));
    const { skipped, notes } = importInto(emptyChain(), path);
    expect([...skipped, ...notes].map((one) => one.reason)).toEqual([reason]);
  });

  test('[F10] a span of an unknown operation with messages is named', () => {
    const span = (operation: string): JsonObject => ({
      traceId: 't',
      spanId: operation,
      name: operation,
      attributes: [
        { key: 'gen_ai.operation.name', value: { stringValue: operation } },
        { key: 'gen_ai.input.messages', value: { stringValue: '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]' } },
      ],
    });
    const { named } = read('otlp-v1', JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span('chat'), span('ponder')] }] }] }));
    expect(named).toEqual(['spans of the operation "ponder" are not read, because Stemma does not know them']);
  });
});

describe('parts of a message', () => {
  const claude = (message: JsonObject): string =>
    `${JSON.stringify({ type: 'user', uuid: '11111111-1111-4111-8111-111111111111', parentUuid: null, sessionId: 's', message })}\n`;

  test.each<[string, Json, readonly unknown[]]>([
    ['a text in the list', ['odd', { type: 'text', text: 'Hi' }], ['odd']],
    ['an object', { text: 'odd' }, [{ text: 'odd' }]],
  ])('[F9] Claude Code: a content that is %s is kept', (_, content, kept) => {
    expect(eventValues(read('claude-code-v1', claude({ role: 'user', content })))).toEqual(kept);
  });

  test('[F9] Codex: a part of thinking of an unknown type is kept', () => {
    const { entries } = read('codex-v1', changed(fixture(codexFile), 'type', 'summary_text', 'zzz'));
    expect(entries.flatMap(({ result }) => (isObject(result) && result.parts ? [result.parts] : []))).toEqual([
      [{ type: 'zzz', text: 'Look first.' }],
    ]);
  });

  test('[F9] OpenCode: parts of an unknown role and the output of an unknown state are kept', () => {
    const line = (id: string, role: string, parts: readonly JsonObject[]): string =>
      `${JSON.stringify({ info: { id, role, time: { created: 1, completed: 2 } }, parts })}\n`;
    const text = { id: 'p1', type: 'text', text: 'Hi' };
    const tool = { id: 'p2', type: 'tool', tool: 'ls', callID: 'c', state: { status: 'zzz', input: {}, output: 'a.txt' } };
    const found = read('opencode-v1', `${line('m1', 'user', [text])}${line('m2', 'zzz', [text])}${line('m3', 'assistant', [tool])}`);
    expect(eventValues(found)).toMatchObject([{ parts: [text] }]);
    expect(found.entries.flatMap((one) => (one.kind === 'tool_result' ? [one.text] : []))).toEqual(['a.txt']);
  });

  test('[F9] Vercel AI: the output of a tool in an unknown state is a result', () => {
    const { entries } = read('mapped-v1', changed(fixture('mapped/vercel-ai.json'), 'state', 'output-available', 'zzz'), '/x/vercel-ai.json');
    expect(entries.flatMap(({ kind, text }) => (kind === 'tool_result' ? [text] : []))).toContain('hello');
  });

  test('[F9] LangGraph: a call whose arguments are no JSON is kept', () => {
    const call = { type: 'invalid_tool_call', id: 'c', name: 'f', args: '{"x": ', error: 'not JSON' };
    const message = { type: 'ai', data: { id: 'a', content: '', tool_calls: [], invalid_tool_calls: [call] } };
    const { entries } = formatOf('langgraph-v1').parse(Buffer.from(`${JSON.stringify({ thread: 't', checkpoint: 'k', messages: [message] })}\n`));
    expect(entries).toMatchObject([{ kind: 'tool_call', toolCallId: 'c', toolName: 'f', arguments: '{"x": ', marks: ['unparsed'] }]);
  });

  test('[F9] LangGraph: a call that only the content holds is kept', () => {
    const message = { type: 'ai', data: { id: 'a', content: [{ type: 'tool_use', id: 'c', name: 'f', input: { x: 1 } }], tool_calls: [] } };
    const { entries } = formatOf('langgraph-v1').parse(Buffer.from(`${JSON.stringify({ thread: 't', checkpoint: 'k', messages: [message] })}\n`));
    expect(entries).toMatchObject([{ kind: 'tool_call', toolCallId: 'c', toolName: 'f', arguments: { x: 1 } }]);
  });
});
