import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { progress } from '../../../../src/core/formats/claude-code/plan-progress.js';
import { answer, call, prompt, result } from '../../../support/claude-lines.js';
import { root } from '../../../support/source.js';

const over = (text: string, reason = 'end_turn'): string => text.replace('"model":"m"', `"model":"m","stop_reason":"${reason}"`);
const bookkeeping = '{"type":"last-prompt","lastPrompt":"x","sessionId":"s1"}\n';
const look = (text: string, granularity: 'turn_boundary' | 'tool_call' = 'turn_boundary') => progress(Buffer.from(text), granularity);

const asked = prompt('u1', 'question');
const done = over(answer('a1', 'answer', { parent: 'u1' }));

describe('the progress of a growing session', () => {
  test('[L1] a turn ends with a final stop reason and the bookkeeping after it', () => {
    expect(look(asked)).toMatchObject({ settled: 0, open: true });
    expect(look(asked + done)).toMatchObject({ settled: (asked + done).length, open: false, ended: false });
    expect(look(asked + done + bookkeeping).settled).toBe((asked + done + bookkeeping).length);
  });

  test('[L1] calls and their results are the middle of a turn', () => {
    const turn = asked + over(call('a1', 't1', 'Bash', {}, { parent: 'u1' }), 'tool_use') + result('r1', 't1', 'ok', { parent: 'a1' });
    expect(look(turn)).toMatchObject({ settled: 0, resting: 0, open: true });
    expect(look(turn, 'tool_call').settled).toBe(turn.length);
  });

  test('[L1] thinking does not end an answer, although it has the stop reason', () => {
    const thinking = done.replace('"type":"text","text":"answer"', '"type":"thinking","thinking":"hm","signature":"x"');
    expect(look(asked + thinking)).toMatchObject({ settled: 0, open: true });
  });

  test('[L4] without a stop reason, only an answer without calls may end the turn', () => {
    const quiet = asked + answer('a1', 'answer', { parent: 'u1' });
    expect(look(quiet)).toMatchObject({ settled: 0, resting: quiet.length, open: true });
    expect(look(quiet + call('a2', 't1', 'Bash', {}, { parent: 'a1' }))).toMatchObject({ settled: 0, resting: 0 });
  });

  test('[L1] the next prompt ends a turn that never ended, and an interruption ends one', () => {
    const broken = asked + over(call('a1', 't1', 'Bash', {}, { parent: 'u1' }), 'tool_use');
    expect(look(broken + prompt('u2', 'again', { parent: 'a1' }))).toMatchObject({ settled: broken.length, open: true });
    const stopped = broken + prompt('u2', '[Request interrupted by user for tool use]', { parent: 'a1' });
    expect(look(stopped)).toMatchObject({ settled: stopped.length, open: false });
  });

  test('[L4] a compaction ends with its summary', () => {
    const boundary = `${JSON.stringify({ type: 'system', subtype: 'compact_boundary', parentUuid: null, logicalParentUuid: 'a1', uuid: 'b1', isSidechain: false })}\n`;
    const summary = prompt('s1', 'what was', { parent: 'b1', extra: { isCompactSummary: true } });
    expect(look(asked + done + boundary).settled).toBe((asked + done).length);
    expect(look(asked + done + boundary + summary)).toMatchObject({ settled: (asked + done + boundary + summary).length, open: false });
  });

  test('[L5] written costs mean that the agent has left, unless it returned', () => {
    const left = `${asked + done}{"type":"cost-state","sessionId":"s1"}\n`;
    expect(look(left)).toMatchObject({ settled: left.length, ended: true });
    expect(look(left + prompt('u2', 'back', { parent: 'a1' })).ended).toBe(false);
  });

  test('[L3] bookkeeping alone settles nothing', () => {
    expect(look(bookkeeping + bookkeeping)).toMatchObject({ settled: 0, resting: 0, open: false });
  });

  test('[L12] new bytes are read a part at a time, however many there are', { tags: 'long' }, () => {
    const bytes = Buffer.from((asked + done).repeat(Math.ceil(12_000_000 / (asked + done).length)) + asked);
    let most = 0;
    const parts = {
      length: bytes.length,
      subarray: (start: number, end: number) => {
        most = Math.max(most, end - start);
        return bytes.subarray(start, end);
      },
    };
    expect(progress(parts, 'turn_boundary')).toEqual(progress(bytes, 'turn_boundary'));
    expect(progress(parts, 'turn_boundary')).toMatchObject({ settled: bytes.length - asked.length, open: true });
    expect(most).toBeLessThan(6_000_000);
  });

  test('[L1] half a line never counts, wherever it is cut', () => {
    const text = asked + done;
    for (let length = 0; length < text.length - 1; length++) expect(look(text.slice(0, length)).settled).toBe(0);
  });

  test('[L1] every session in the sample is complete at its end', () => {
    const folder = join(root, 'resources', 'sample', 'larder');
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.jsonl'))) {
      const bytes = readFileSync(join(folder, name));
      expect([name, progress(bytes, 'turn_boundary')]).toMatchObject([name, { settled: bytes.length, open: false }]);
    }
  });
});
