import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { usageCalls } from '../../../src/core/usage/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';

/**
 * The counts that agents recorded, added up here from the raw files by their own names, without Stemma's readers. A value is a list of
 * input, cache reads, cache writes and output.
 */
const fixtures = join(import.meta.dirname, '../../fixtures');

type Raw = Readonly<Record<string, unknown>>;
type Sums = readonly [input: number, cacheRead: number, cacheWrite: number, output: number];

const isObject = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value);
const numberIn = (value: unknown): number => (typeof value === 'number' ? value : 0);
const at = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);

/** The objects at any depth that pass the test. */
function all(value: unknown, matches: (one: Raw) => boolean): Raw[] {
  if (Array.isArray(value)) return value.flatMap((one) => all(one, matches));
  if (!isObject(value)) return [];
  return matches(value) ? [value] : Object.values(value).flatMap((one) => all(one, matches));
}

/** A file as JSON, or the lines of it. */
function contentOf(path: string): unknown {
  const text = readFileSync(path, 'utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text.split('\n').flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
  }
}

const added = (rows: readonly Sums[]): number[] =>
  rows.reduce<number[]>((sum, row) => sum.map((value, place) => value + (row[place] ?? 0)), [0, 0, 0, 0]);

/** Rows whose input includes the cached tokens. */
const within = ([input, read, write, output]: Sums): Sums => [input - read - write, read, write, output];

const named = (usage: unknown, ...names: readonly [string, string, string, string]): Sums =>
  names.map((name) => numberIn(at(usage, name))) as unknown as Sums;

const steps = (content: unknown): Sums[] =>
  all(content, ({ metrics, is_copied_context: copied }) => isObject(metrics) && copied !== true).map(({ metrics }) =>
    within([
      numberIn(at(metrics, 'prompt_tokens')),
      numberIn(at(metrics, 'cached_tokens')),
      numberIn(at(metrics, 'extra', 'cache_creation_input_tokens')),
      numberIn(at(metrics, 'completion_tokens')),
    ]),
  );

const cline = (content: unknown): Sums[] =>
  all(content, ({ metrics }) => isObject(metrics)).map(({ metrics }) =>
    within(named(metrics, 'inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens')),
  );

/** The replies, and the calls that wrote summaries. */
const copilot = (content: unknown): Sums[] =>
  all(content, ({ type }) => type === 'session.usage_record' || type === 'session.compaction_complete').map(({ type, data }) =>
    within(
      named(
        at(data, type === 'session.usage_record' ? 'usage' : 'compactionTokensUsed'),
        ...(['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens'] as const),
      ),
    ),
  );

/** The replies, and the telemetry of compressions and helpers, which have no reply in the file. */
const qwen = (content: unknown): Sums[] => [
  ...all(content, ({ usageMetadata }) => isObject(usageMetadata)).map(({ usageMetadata }) =>
    within(named(usageMetadata, 'promptTokenCount', 'cachedContentTokenCount', '', 'candidatesTokenCount')),
  ),
  ...all(content, ({ prompt_id: id, input_token_count: input }) => typeof input === 'number' && /^compress-|#managed-/.test(String(id))).map(
    (event) => within(named(event, 'input_token_count', 'cached_content_token_count', '', 'output_token_count')),
  ),
];

/** The file counts each call of the conversation twice, at its end and in a record of its own, and the others in such records alone. */
const kimi = (content: unknown): Sums[] =>
  all(content, ({ type, usage }) => type === 'usage.record' && isObject(usage)).map(({ usage }) =>
    named(usage, 'inputOther', 'inputCacheRead', 'inputCacheCreation', 'output'),
  );

const inspect = (content: unknown): Sums[] =>
  all(content, ({ event }) => event === 'model').map(({ output }) =>
    named(at(output, 'usage'), 'input_tokens', 'input_tokens_cache_read', 'input_tokens_cache_write', 'output_tokens'),
  );

/** Several events of OpenHands repeat the response that made them. */
const openHands = (content: unknown): Sums[] => [
  ...new Map(
    all(content, ({ usage, id }) => isObject(usage) && typeof id === 'string').map(({ id, usage }) => [
      id,
      within(named(usage, 'prompt_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'completion_tokens')),
    ]),
  ).values(),
];

/** An interrupted reply has an output count from the beginning of its stream. */
const pi = (content: unknown): Sums[] =>
  all(content, ({ role, usage }) => role === 'assistant' && isObject(usage)).map(({ usage, stopReason }) => {
    const [input, read, write, output] = named(usage, 'input', 'cacheRead', 'cacheWrite', 'output');
    return [input, read, write, stopReason === 'aborted' || stopReason === 'error' ? 0 : output];
  });

const gemini = (content: unknown): Sums[] =>
  all(content, ({ tokens }) => isObject(tokens)).map(({ tokens }) => {
    const [input, read, write, output] = named(tokens, 'input', 'cached', '', 'output');
    return within([input, read, write, output + numberIn(at(tokens, 'thoughts'))]);
  });

const codex = (content: unknown): Sums[] =>
  all(content, (one) => isObject(one.last_token_usage)).map(({ last_token_usage: usage }) =>
    within(named(usage, 'input_tokens', 'cached_input_tokens', '', 'output_tokens')),
  );

const langfuse = (content: unknown): Sums[] =>
  all(content, ({ type }) => type === 'GENERATION').map(({ usageDetails }) => named(usageDetails, 'input', '', '', 'output'));

const langsmith = (content: unknown): Sums[] =>
  all(content, (one) => isObject(one.usage_metadata)).map(({ usage_metadata: usage }) => named(usage, 'input_tokens', '', '', 'output_tokens'));

const spans = (content: unknown): Sums[] =>
  all(content, ({ name, attributes }) => String(name).startsWith('chat ') && isObject(attributes)).map(({ attributes }) =>
    named(attributes, 'gen_ai.usage.input_tokens', '', '', 'gen_ai.usage.output_tokens'),
  );

const pydantic = (content: unknown): Sums[] =>
  all(content, ({ usage }) => isObject(usage)).map(({ usage }) =>
    within(named(usage, 'input_tokens', 'cache_read_tokens', 'cache_write_tokens', 'output_tokens')),
  );

const files: readonly (readonly [path: string, raw: (content: unknown) => readonly Sums[]])[] = [
  ['gemini-cli/entire-ab2b9748b105-session.json', gemini],
  ['codex-all-types/agent-sessions-sanitized-all-record-types.jsonl', codex],
  ['pi-compacted/before-compaction.jsonl', pi],
  ['atif/daydream_multi_phase_v1.6.json', steps],
  ['atif/daydream_rundir_trajectory.json', steps],
  ['atif/made-here-v1.8/trajectory.json', steps],
  ['atif/openhands_hello-world.trajectory.json', steps],
  ['atif/terminus-2_summarization-linear/trajectory.json', steps],
  ['cline/live-3.0.65/sessions/1795340259312_d23s2/1795340259312_d23s2.messages.json', cline],
  ['cline/live-3.0.65/sessions/1795340274307_3xr0a/1795340274307_3xr0a.messages.json', cline],
  ['cline/sdk-session.messages.json', cline],
  ['copilot-cli/live-1.0.102/session-state/5264d248-7f24-4738-a567-649ec81c3734/events.jsonl', copilot],
  ['copilot-cli/live-1.0.102/session-state/ae00a717-079c-4dd2-9bfc-36e6402cb131/events.jsonl', copilot],
  ['copilot-cli/live-1.0.102/session-state/d8cb7a19-6d8f-4e3c-8721-91e4754de589/events.jsonl', copilot],
  ['qwen-code/019f0000-004.jsonl', qwen],
  ['qwen-code/live-0.24.4/projects/-tmp-w-live-qwen-project/chats/05ee9ce1-fcaf-4332-88a6-dd1cae7702f7.jsonl', qwen],
  ['qwen-code/live-0.24.4/projects/-tmp-w-live-qwen-project/chats/2b3c2aa1-3da2-4fca-a0cb-3ce311997b81.jsonl', qwen],
  ['qwen-code/live-0.24.4/projects/-tmp-w-live-qwen-project/chats/587b626f-245e-4006-947c-e69dc5082d54.jsonl', qwen],
  ['kimi/assistant_tools.wire.jsonl', kimi],
  ['mapped/kimi.wire.jsonl', kimi],
  ['inspect-eval/browser.json', inspect],
  ['inspect-eval/log_formats.json', inspect],
  ['mapped/openhands-v0.json', openHands],
  ['openhands/v0-basic_gui_mode.json', openHands],
  ['mapped/pydantic-ai.json', pydantic],
  ['otlp/langfuse-adk.json', langfuse],
  ['otlp/langfuse-openai-agents.json', langfuse],
  ['otlp/langfuse-pydantic-ai.json', langfuse],
  ['langsmith/py_wrap_openai_reasoning.json', langsmith],
  ['otlp/langsmith.json', langsmith],
  ['otel/copilot-cli/file-exporter.jsonl', spans],
];

describe('counts of raw files', () => {
  test.each(files)('[N1] %s', (path, raw) => {
    const chain = emptyChain();
    importInto(chain, join(fixtures, path));
    const { calls } = usageCalls(chain, {});
    const ours = calls.map(({ tokens }): Sums => [tokens.input ?? 0, tokens.cacheRead ?? 0, tokens.cacheWrite ?? 0, tokens.output ?? 0]);
    const expected = raw(contentOf(join(fixtures, path)));
    const counted = (rows: readonly Sums[]): number => rows.filter((row) => row.some((count) => count > 0)).length;
    expect({ calls: counted(ours), sums: added(ours) }).toEqual({ calls: counted(expected), sums: added(expected) });
    expect(counted(expected)).toBeGreaterThan(0);
  });
});
