import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { usageIn } from '../../../src/core/formats/shared/drafts.js';
import { usageCalls, usageSessions } from '../../../src/core/usage/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';

const fixtures = join(import.meta.dirname, '../../fixtures');
const more = resolve(import.meta.dirname, '../../../../shared/transcripts-more');

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
    ['vscode-chat/agentviz-test-vscode-chat.json', [0, 0, 0, 0, 0]],
    ['otlp/sample-1_VSGitHubCopilot_traces.jsonl', [0, 0, 0, 0, 0]],
    ['qwen-code/019f0000-001.jsonl', [0, 0, 0, 0, 0]],
    ['cursor/agent-transcript-simple.jsonl', [0, 0, 0, 0, 0]],
  ] as const)('[N1] %s', (name, expected) => {
    expect(sumsOf(join(fixtures, name))).toEqual(expected);
  });

  test.skipIf(!existsSync(more)).each([
    // Inspect: 15,235 input tokens that leave out 9,088 cached ones, as its own `model_usage` says.
    ['inspect-eval/browser.json', [5, 15_235, 9_088, 0, 281]],
    // Six calls of 100 to 1,000 input tokens and 10 output tokens each.
    ['qwen-code/live-0.24.4', [6, 3_000, 0, 0, 60]],
  ] as const)('[N1] %s (needs ../shared)', (name, expected) => {
    expect(sumsOf(join(more, name))).toEqual(expected);
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
