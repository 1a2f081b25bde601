import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { usageIn } from '../../../src/core/formats/shared/drafts.js';
import { usageCalls, usageSessions } from '../../../src/core/usage/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

const fixtures = join(import.meta.dirname, '../../fixtures');

/** The sums of a file’s calls: with an input count, then uncached input, cache reads, cache writes and output. */
function sumsOf(path: string): readonly number[] {
  const chain = emptyChain();
  importInto(chain, path);
  const { tokens } = usageSessions(chain, { groupBy: null }).totals;
  const counted = usageCalls(chain, {}).calls.filter(({ window }) => window !== null).length;
  return [counted, tokens.input, tokens.cacheRead, tokens.cacheWrite, tokens.output];
}

/** Added up by hand from the raw files. Prompt tokens of all but Inspect include what the cache held, and are shown without it. */
describe('counts of other formats', () => {
  test.each([
    // 13,800 prompt tokens, of which 8,300 cached.
    ['atif/daydream_multi_phase_v1.6.json', [4, 5_500, 8_300, 0, 3_100]],
    // 1,200 prompt tokens, of which 1,000 cached and 100 written; then 300.
    ['atif/made-here-v1.8/trajectory.json', [2, 400, 1_000, 100, 89]],
    // 630,254 input tokens in 16 replies, of which 534,435 cached.
    ['cline/sdk-session.messages.json', [16, 95_819, 534_435, 0, 4_395]],
    // No counts in these files.
    ['copilot-cli/git-ai-session_events.jsonl', [0, 0, 0, 0, 0]],
    // One model event of an old log, found by the text of its message.
    ['inspect-eval/log_formats.json', [1, 66, 0, 0, 2]],
    // The counts stand at the second record of a reply.
    ['qwen-code/019f0000-004.jsonl', [1, 12, 0, 0, 4]],
    // Older versions record the output alone.
    ['copilot-cli/agent-sessions-small.jsonl', [0, 0, 0, 0, 15]],
    ['vscode-chat/agentviz-test-vscode-chat.json', [0, 0, 0, 0, 0]],
    ['otlp/sample-1_VSGitHubCopilot_traces.jsonl', [0, 0, 0, 0, 0]],
    ['qwen-code/019f0000-001.jsonl', [0, 0, 0, 0, 0]],
    ['cursor/agent-transcript-simple.jsonl', [0, 0, 0, 0, 0]],
    // Inspect: 15,235 input tokens that leave out 9,088 cached ones, as its own `model_usage` says.
    ['inspect-eval/browser.json', [5, 15_235, 9_088, 0, 281]],
    // Six calls with replies of 100 to 1,000 input tokens, four of a helper and one of a compression of 400 to 1,100; 10 output tokens each.
    ['qwen-code/live-0.24.4', [11, 6_600, 0, 0, 110]],
  ] as const)('[N1] %s', (name, expected) => {
    expect(sumsOf(join(fixtures, name))).toEqual(expected);
  });
});

describe('interrupted replies', () => {
  test('[N13] count with their input, and without an output', () => {
    const chain = emptyChain();
    const path = join(scratch(), 'session.jsonl');
    const line = (type: string, id: string, parentId: string | null, message: object): string =>
      JSON.stringify({ type, id, parentId, timestamp: '2026-01-02T00:00:00.000Z', message });
    const usage = { input: 10, output: 8, cacheRead: 4_000, cacheWrite: 100 };
    const common = { role: 'assistant', api: 'anthropic-messages', provider: 'anthropic', model: 'claude-opus-4-5' };
    writeFileSync(
      path,
      [
        JSON.stringify({ type: 'session', version: 3, id: 's', timestamp: '2026-01-02T00:00:00.000Z', cwd: '/work' }),
        line('message', 'u1', null, { role: 'user', content: 'go', timestamp: 1 }),
        line('message', 'a1', 'u1', { ...common, content: [{ type: 'text', text: 'I' }], stopReason: 'aborted', usage, timestamp: 2 }),
        line('message', 'u2', 'a1', { role: 'user', content: 'again', timestamp: 3 }),
        line('message', 'a2', 'u2', { ...common, content: [{ type: 'text', text: 'Done' }], stopReason: 'stop', usage, timestamp: 4 }),
      ].join('\n'),
    );
    importInto(chain, path);
    expect(usageCalls(chain, {}).calls.map(({ tokens, window }) => [window, tokens.output])).toEqual([
      [4_110, null],
      [4_110, 8],
    ]);
  });

  test('[N13] the name of an agent is no model', () => {
    for (const name of ['mapped/adk.session.json', 'mapped/swe-agent.traj']) {
      const chain = emptyChain();
      importInto(chain, join(fixtures, name));
      const { calls } = usageCalls(chain, {});
      expect(calls.length).toBeGreaterThan(0);
      expect(calls.map(({ model }) => model)).toEqual(calls.map(() => null));
    }
    const chain = emptyChain();
    importInto(chain, join(fixtures, 'mapped/kimi.wire.jsonl'));
    expect(new Set(usageCalls(chain, {}).calls.map(({ model }) => model))).toEqual(new Set(['kimi-k2.7-code']));
  });
});

describe('counts of a record', () => {
  test('[N1] input within which the cache counts is shown without it, input beside it unchanged', () => {
    const recorded = { input: 1_000, output: 20, cacheRead: 600, cacheWrite: 100, reasoning: 5 };
    expect(usageIn(recorded, 'within')).toEqual({ input: 300, output: 20, cacheRead: 600, cacheWrite: 100, reasoning: 5 });
    expect(usageIn(recorded, 'beside')).toEqual({ input: 1_000, output: 20, cacheRead: 600, cacheWrite: 100, reasoning: 5 });
    expect(usageIn({}, 'within')).toBeUndefined();
  });

  test.each([
    [{ input: -1, output: 5 }, /impossible count: input -1/],
    [{ input: 10, output: 1e12 }, /impossible count: output 1000000000000/],
    [{ input: 10.5 }, /impossible count: input 10.5/],
    [{ input: '10' }, /impossible count: input "10"/],
    [{ input: 100, cacheRead: 90, cacheWrite: 20, output: 1 }, /cached tokens \(110\) exceed all input tokens \(100\)/],
  ])('[N4] the counts %j are not shown, and the reason is', (recorded, reason) => {
    const usage = usageIn(recorded, 'within');
    expect(usage).toMatchObject({ input: recorded.input === 10 ? 10 : null });
    expect(usage?.countFlaw).toMatch(reason);
  });
});
