import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { entries, graph, type WriteChain } from '../../../src/core/chain/index.js';
import type { Entry } from '../../../src/core/contract/index.js';
import { listSources } from '../../../src/core/import/index.js';
import { listSessions } from '../../../src/core/sessions/index.js';
import { prepareUsage, usageSessions } from '../../../src/core/usage/index.js';
import { bytesOfSource, importInto } from '../../support/imports.js';
import { some } from '../../support/long.js';
import { emptyChain } from '../../support/project.js';

/** Real files of many agents. */
const samples = join(import.meta.dirname, '../../fixtures');

/** Counted in the raw files by a program that shares no code with Stemma: calls of tools, results, failed results, and model calls. */
interface Counted {
  readonly file: string;
  readonly agents: readonly string[];
  readonly sessions: number;
  /** Turns of all sessions. */
  readonly turns: number;
  readonly calls: number;
  readonly results: number;
  readonly errors: number;
  /** Model calls, uncached input, cache read, output. */
  readonly usage: readonly [calls: number, input: number, cacheRead: number, output: number];
}

const counted: readonly Counted[] = [
  row('copilot-cli/live-1.0.102/session-state/5264d248-7f24-4738-a567-649ec81c3734/events.jsonl', 'copilot', [2, 6], [6, 6, 1], [10, 5_800, 0, 100]),
  row('copilot-cli/live-1.0.102/session-state/ae00a717-079c-4dd2-9bfc-36e6402cb131/events.jsonl', 'copilot', [2, 8], [6, 6, 1], [12, 8_300, 0, 120]),
  row('copilot-cli/git-ai-session_events.jsonl', 'copilot', [1, 1], [1, 1, 0], [1, 0, 0, 0]),
  row('vscode-chat/copilot_session_simple.json', 'vscode-chat', [1, 3], [2, 2, 0], [5, 0, 0, 0]),
  row('vscode-chat/copilot_session_simple.jsonl', 'vscode-chat', [1, 3], [2, 2, 0], [5, 0, 0, 0]),
  row('vscode-chat/agentviz-test-vscode-chat.json', 'vscode-chat', [1, 3], [9, 9, 0], [3, 0, 0, 0]),
  row('qwen-code/019f0000-001.jsonl', 'qwen', [1, 1], [1, 1, 0], [2, 0, 0, 0]),
  // A fork. The session that it repeats lies beside it and is imported first.
  row(
    'qwen-code/live-0.24.4/projects/-tmp-w-live-qwen-project/chats/2b3c2aa1-3da2-4fca-a0cb-3ce311997b81.jsonl',
    'qwen',
    [2, 7],
    [2, 2, 1],
    [9, 4_500, 0, 90],
  ),
  row('cline/live-3.0.65/sessions/1795340259312_d23s2/1795340259312_d23s2.messages.json', 'cline', [1, 1], [1, 1, 0], [2, 300, 0, 20]),
  row('cline/sdk-session.messages.json', 'cline', [1, 5], [11, 11, 0], [16, 95_819, 534_435, 4_395]),
  row('cline/sdk-agentic.compaction.json', 'cline', [1, 1], [0, 0, 0], [1, 14, 12_224, 10]),
  row('kilo/live-7.7.9/kilo.db', 'kilo', [1, 2], [2, 1, 0], [1, 0, 0, 0]),
  row('cursor/composer-global-state.vscdb', 'cursor', [1, 2], [2, 2, 0], [4, 0, 0, 0]),
  row('cursor/agent-transcript-simple.jsonl', 'cursor', [1, 1], [10, 0, 0], [10, 0, 0, 0]),
  row('atif/daydream_rundir_trajectory.json', 'atif', [1, 8], [0, 0, 0], [7, 21_233, 209_744, 17]),
  row('atif/daydream_multi_phase_v1.6.json', 'atif', [1, 4], [8, 8, 0], [4, 5_500, 8_300, 3_100]),
  // 100 tokens of the input were written to the cache.
  row('atif/made-here-v1.8/trajectory.json', 'atif', [2, 3], [2, 2, 1], [3, 400, 1_000, 89]),
  row('atif/openhands_hello-world.trajectory.json', 'atif', [1, 1], [2, 1, 0], [2, 220, 0, 80]),
  row('otel/copilot-cli/file-exporter.jsonl', 'otlp', [4, 10], [6, 6, 1], [13, 9_500, 0, 130]),
  row('otel/copilot-cli/otlp-http-traces.jsonl', 'otlp', [2, 4], [6, 6, 1], [8, 3_600, 0, 80]),
  row('otel/vscode-copilot/agent-traces.db', 'otlp', [8, 8], [5, 5, 0], [9, 31_208, 40_463, 1_696]),
  row('otlp/langfuse-adk.json', 'otlp', [1, 2], [1, 1, 0], [2, 67, 0, 9]),
  row('otlp/langsmith.json', 'otlp', [1, 1], [0, 0, 0], [1, 9, 0, 9]),
  row('langsmith/anthropic_managed_builtin_tools.jsonl', 'managed-agent', [1, 1], [1, 1, 0], [2, 0, 0, 0]),
  row('inspect-eval/browser.json', 'inspect-eval', [1, 1], [4, 4, 0], [5, 15_235, 9_088, 281]),
  row('inspect-eval/log_tool_call_error.json', 'inspect-eval', [1, 1], [0, 11, 11], [0, 0, 0, 0]),
  row('inspect-eval/made-here_security-guide.chunked.zstd.eval', 'inspect-eval', [16, 16], [0, 0, 0], [32, 5_279, 0, 5_622]),
  row('kimi/assistant_tools.wire.jsonl', 'kimi', [1, 8], [19, 19, 1], [23, 30_174, 661_504, 5_515]),
  row('mapped/kimi.wire.jsonl', 'kimi', [1, 1], [2, 2, 0], [3, 12_905, 28_416, 330]),
  row('mapped/droid.jsonl', 'droid', [1, 1], [5, 5, 0], [5, 0, 0, 0]),
  row('mapped/openhands-v0.json', 'openhands', [1, 1], [2, 1, 0], [2, 10, 3_482, 1_312]),
  row('mapped/openhands-v1.jsonl', 'openhands', [1, 1], [2, 3, 2], [2, 0, 0, 0]),
  row('mapped/swe-agent.traj', 'swe-agent', [1, 1], [5, 5, 0], [5, 0, 0, 0]),
  row('swe-agent/mini-local.traj.json', 'mini-swe-agent', [1, 1], [0, 0, 0], [2, 0, 0, 0]),
  row('openai-agents/run_state-v1_13_programmatic_tool_calling.json', 'openai-agents', [1, 1], [2, 1, 0], [1, 0, 0, 0]),
  row('mapped/pydantic-ai.json', 'pydantic-ai', [1, 1], [1, 2, 1], [2, 170, 100, 20]),
  row('mapped/adk.session.json', 'adk', [1, 2], [1, 1, 0], [3, 0, 0, 0]),
  row('adk/flow_complex_spark.session.json', 'adk', [1, 1], [2, 2, 0], [6, 0, 0, 0]),
  row('atif/nemo_exmp06_atif.json', 'atif', [1, 3], [0, 0, 0], [3, 0, 0, 0]),
  row('atif/terminus-2_summarization-linear/trajectory.json', 'atif', [1, 1], [0, 0, 0], [3, 2_252, 0, 160]),
  // Its first four steps are copied from the trajectory before it.
  row('atif/terminus-2_summarization-linear/trajectory.cont-1.json', 'atif', [1, 3], [0, 0, 0], [4, 4_250, 0, 530]),
  row('cline/live-3.0.65/sessions/1795340274307_3xr0a/1795340274307_3xr0a.messages.json', 'cline', [1, 1], [0, 0, 0], [1, 300, 0, 10]),
  row('cline/sdk-basic.compaction.json', 'cline', [1, 5], [0, 0, 0], [5, 0, 0, 0]),
  row('copilot-cli/live-1.0.102/session-state/d8cb7a19-6d8f-4e3c-8721-91e4754de589/events.jsonl', 'copilot', [1, 1], [0, 0, 0], [1, 1_400, 0, 10]),
  row('vscode-chat/copilot_vscode_event_stream.jsonl', 'copilot', [1, 1], [2, 2, 0], [2, 0, 0, 0]),
  row('cursor/agent-transcript-large.jsonl', 'cursor', [1, 3], [2, 2, 0], [5, 0, 0, 0]),
  row('droid/agent-sessions-session_store_large.jsonl', 'droid', [1, 2], [1, 1, 0], [4, 0, 0, 0]),
  row('droid/letta-happy-path.jsonl', 'droid', [1, 1], [1, 1, 0], [3, 0, 0, 0]),
  row('inspect-eval/log_formats.eval', 'inspect-eval', [1, 1], [0, 0, 0], [1, 66, 0, 2]),
  row('otlp/langfuse-openai-agents.json', 'otlp', [1, 1], [1, 1, 0], [2, 140, 0, 44]),
  row('langsmith/py_wrap_openai_reasoning.json', 'otlp', [1, 1], [0, 0, 0], [1, 43, 0, 2_497]),
  row('openai-agents/run_state-v1_13_pending_tool_approval.json', 'openai-agents', [1, 1], [1, 0, 0], [1, 0, 0, 0]),
  row('openhands/v0-basic_gui_mode.json', 'openhands', [1, 1], [4, 4, 0], [5, 22, 11_793, 2_024]),
  row(
    'qwen-code/live-0.24.4/projects/-tmp-w-live-qwen-project/chats/05ee9ce1-fcaf-4332-88a6-dd1cae7702f7.jsonl',
    'qwen',
    [1, 1],
    [0, 0, 0],
    [2, 2_100, 0, 20],
  ),
  row(
    'qwen-code/live-0.24.4/projects/-tmp-w-live-qwen-project/chats/587b626f-245e-4006-947c-e69dc5082d54.jsonl',
    'qwen',
    [1, 3],
    [2, 2, 1],
    [7, 2_800, 0, 70],
  ),
  row('swe-agent/marshmallow-1867_function_calling.traj', 'swe-agent', [1, 1], [11, 11, 0], [11, 0, 0, 0]),
];

function row(
  file: string,
  agent: string,
  [sessions, turns]: readonly [number, number],
  [calls, results, errors]: readonly [number, number, number],
  usage: Counted['usage'],
): Counted {
  return { file, agents: [agent], sessions, turns, calls, results, errors, usage };
}

/** The entries that each commit added. */
function own(chain: WriteChain): readonly Entry[] {
  return graph(chain, { offset: 0, limit: 1_000 }).rows.flatMap(({ commit }) =>
    entries(chain, { id: commit.id, stop: commit.parent ?? 'root', limit: 10_000 }).entries.filter((entry) => entry.source.commit === commit.id),
  );
}

describe('samples of many agents', () => {
  test.each(some(counted, 15))('[F21, F36, F47] $file has the turns, tools and counts of the raw file', async (one) => {
    const chain = emptyChain();
    await prepareUsage(chain);
    const path = join(samples, one.file);
    importInto(chain, path);
    const { sessions } = listSessions(chain, {}, {});
    const all = own(chain);
    const count = (kind: Entry['kind']): number => all.filter((entry) => entry.kind === kind).length;
    const { totals } = usageSessions(chain, {});
    expect({
      file: one.file,
      agents: [...new Set(sessions.map(({ agent }) => agent))],
      sessions: sessions.length,
      turns: sessions.reduce((sum, { turns }) => sum + turns, 0),
      calls: count('tool_call'),
      results: count('tool_result'),
      errors: all.filter(({ kind, isError }) => kind === 'tool_result' && isError).length,
      usage: [totals.calls, totals.tokens.input, totals.tokens.cacheRead, totals.tokens.output],
    }).toEqual(one);
    const keys = all.map(({ key }) => key);
    for (const source of listSources(chain))
      if (existsSync(source.path) && statSync(source.path).isFile())
        expect(bytesOfSource(chain, source.sourceId).equals(readFileSync(source.path)), source.path).toBe(true);
    expect(importInto(chain, path)).toMatchObject({ commits: 0, entries: 0 });
    const again = emptyChain();
    importInto(again, path);
    expect(own(again).map(({ key }) => key)).toEqual(keys);
  });
});
