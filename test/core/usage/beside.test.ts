import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { familiesOf, tips } from '../../../src/core/chain/index.js';
import { callsByCommit, usageCalls, usageCompaction, usageOfContext, usageSeries, usageSessions, usageSides } from '../../../src/core/usage/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

/** The lines of a session of Qwen Code: two turns with a compression between them, and a helper that reads along. */
const qwen = ((): readonly string[] => {
  const lines: string[] = [];
  const add = (type: string, more: object): void => {
    const number = lines.length;
    const envelope = { uuid: `r${number}`, parentUuid: number === 0 ? null : `r${number - 1}`, sessionId: 's1', cwd: '/work', version: '0.24.4' };
    lines.push(`${JSON.stringify({ ...envelope, timestamp: `2026-01-02T00:00:0${number}.000Z`, type, ...more })}\n`);
  };
  const telemetry = (prompt: string, input: number, more: object = {}): void =>
    add('system', {
      subtype: 'ui_telemetry',
      systemPayload: {
        uiEvent: {
          ...{ 'event.name': 'qwen-code.api_response', model: 'qwen3-coder-plus', prompt_id: prompt },
          ...{ input_token_count: input, output_token_count: 10, cached_content_token_count: 20, thoughts_token_count: 5, ...more },
        },
      },
    });
  const turn = (prompt: string, input: number): void => {
    add('user', { message: { role: 'user', parts: [{ text: prompt }] } });
    telemetry('s1########0', input);
    add('assistant', {
      model: 'qwen3-coder-plus',
      message: { role: 'model', parts: [{ text: 'Done.' }] },
      usageMetadata: { promptTokenCount: input, candidatesTokenCount: 10, cachedContentTokenCount: 20 },
    });
  };
  turn('Fix the queue', 1_000);
  telemetry('s1#managed-auto-memory-extractor-1#0', 400, { subagent_name: 'managed-auto-memory-extractor' });
  telemetry('compress-1', 5_000);
  // A subagent with a file of its own: its calls count there.
  telemetry('s1#reviewer-1#0', 700, { subagent_name: 'reviewer' });
  add('system', {
    subtype: 'chat_compression',
    systemPayload: { info: { compressionStatus: 1 }, compressedHistory: [{ role: 'user', parts: [{ text: 'SUMMARY' }] }] },
  });
  turn('Explain it', 600);
  return lines;
})();

/** The wire file of an agent of Kimi Code that compacts after its first turn. */
const kimi = ((): readonly string[] => {
  const usage = (inputOther: number) => ({ inputOther, output: 7, inputCacheRead: 100, inputCacheCreation: 0 });
  const records = [
    { type: 'metadata', protocol_version: '1.4' },
    { type: 'context.append_message', message: { role: 'user', content: [{ type: 'text', text: 'Fix the queue' }] } },
    { type: 'context.append_loop_event', event: { type: 'content.part', uuid: 'c1', stepUuid: 'p1', part: { type: 'text', text: 'Done.' } } },
    { type: 'context.append_loop_event', event: { type: 'step.end', uuid: 'p1', usage: usage(900) } },
    { type: 'usage.record', model: 'kimi-k2', usage: usage(900), usageScope: 'turn' },
    { type: 'usage.record', model: 'kimi-k2', usage: usage(950), usageScope: 'session' },
    { type: 'context.apply_compaction', contextSummary: 'SUMMARY' },
  ];
  return records.map((record, number) => `${JSON.stringify({ ...record, time: 1_767_312_000_000 + number * 1_000 })}\n`);
})();

/** Imports states of a file, in this order: as copies of the file, or as the file at one place. */
function imported(name: string, states: readonly (readonly string[])[], areCopies = false) {
  const chain = emptyChain();
  const dir = scratch();
  for (const [number, lines] of states.entries()) {
    const folder = join(dir, areCopies ? String(number) : 'session');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), lines.join(''));
    importInto(chain, join(folder, name));
  }
  return chain;
}

const sumsIn = (chain: ReturnType<typeof emptyChain>) => {
  const { calls, tokens } = usageSessions(chain, { groupBy: null }).totals;
  return { calls, ...tokens };
};

describe('calls beside the conversation', () => {
  test('[N16] count with what they were for', () => {
    const chain = imported('session.jsonl', [qwen]);
    expect(sumsIn(chain)).toEqual({ calls: 4, input: 7_000 - 80, cacheRead: 80, cacheWrite: 0, output: 40 });
    expect(usageCalls(chain, {}).calls.map(({ beside, trigger, window, added }) => ({ beside, trigger, window, added }))).toEqual([
      { beside: undefined, trigger: 'Fix the queue', window: 1_000, added: 1_000 },
      { beside: 'managed-auto-memory-extractor', trigger: null, window: 400, added: null },
      { beside: 'compaction', trigger: null, window: 5_000, added: null },
      { beside: undefined, trigger: 'Explain it', window: 600, added: -400 },
    ]);
  });

  test('[N16] a compaction that only its session counts', () => {
    const chain = imported('wire.jsonl', [kimi]);
    expect(sumsIn(chain)).toEqual({ calls: 2, input: 1_850, cacheRead: 200, cacheWrite: 0, output: 14 });
    expect(usageCalls(chain, {}).calls.map(({ beside, model, tokens }) => [beside, model, tokens.output])).toEqual([
      [undefined, null, 7],
      ['compaction', 'kimi-k2', 7],
    ]);
  });

  test('[N16] say nothing about windows, growth and cache misses', () => {
    const chain = imported('session.jsonl', [qwen]);
    const [tip] = tips(chain, {});
    const [compaction] = chain.db.all<{ id: NonNullable<typeof tip>['id'] }>("SELECT id FROM commits WHERE type = 'compaction'");
    if (!tip || !compaction) throw new Error('the session has no compaction');
    const before = usageCompaction(chain, { id: compaction.id });
    expect([before.before.counted, before.after.counted]).toEqual([1_000, 600]);
    expect(usageOfContext(chain, before.parent ?? tip.id).counted).toBe(1_000);
    expect(usageSeries(chain, tip.id).calls.map(({ counted }) => counted)).toEqual([1_000, 600]);
    expect(Math.max(...callsByCommit(chain, familiesOf(chain).all).map(({ peak }) => peak ?? 0))).toBe(1_000);
    expect(usageCalls(chain, { id: tip.id, filter: { miss: true } }).calls.flatMap(({ beside }) => beside ?? [])).toEqual([]);
    expect(usageSides(chain, [tip.id, tip.id]).shared.calls).toBe(4);
  });

  test.each([
    ['copies of a file of Qwen Code', 'session.jsonl', qwen, true],
    ['a file of Qwen Code', 'session.jsonl', qwen, false],
    ['a file of Kimi Code', 'wire.jsonl', kimi, false],
  ] as const)('[N2] [N16] count once, whatever states are imported in whatever order: %s', (_, name, lines, areCopies) => {
    const expected = sumsIn(imported(name, [lines]));
    const states = fc.array(fc.integer({ min: 1, max: lines.length }), { maxLength: 3 });
    fc.assert(
      fc.property(states, states, (earlier, later) => {
        const files = [...earlier, lines.length, ...later].map((length) => lines.slice(0, length));
        expect(sumsIn(imported(name, files, areCopies))).toEqual(expected);
      }),
      { numRuns: 8 },
    );
  });
});
