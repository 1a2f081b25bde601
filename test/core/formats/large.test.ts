import { expect, test } from 'vitest';
import { copilotCli } from '../../../src/core/formats/copilot-cli/index.js';
import type { FileBytes, PlanContext } from '../../../src/core/formats/index.js';
import { maxWholeBytes } from '../../../src/core/formats/shared/lazy-lines.js';

/** A session that is too large to be held in memory. */
function largeSession(): Buffer {
  const text = 'a long answer '.repeat(40_000);
  const lines: object[] = [{ type: 'session.start', id: 'e0', parentId: null, data: { sessionId: 'large', context: { cwd: '/work' } } }];
  for (let turn = 0, size = 0; size <= maxWholeBytes; turn++, size += text.length) {
    const before = lines.length;
    lines.push(
      { type: 'user.message', id: `u${turn}`, parentId: `x${before}`, data: { content: `Prompt ${turn}` } },
      {
        type: 'assistant.message',
        id: `a${turn}`,
        parentId: `u${turn}`,
        data: { messageId: `m${turn}`, apiCallId: `c${turn}`, model: 'm', content: text, outputTokens: turn, toolRequests: [] },
      },
    );
  }
  return Buffer.from(lines.map((line) => `${JSON.stringify({ timestamp: '2026-11-25T10:00:00.000Z', ...line })}\n`).join(''));
}

test('[F48] a file that is read a part at a time has the plan of one that is read whole', { tags: 'long' }, () => {
  const bytes = largeSession();
  const context: PlanContext = { path: '/x/events.jsonl', known: { has: () => false }, resumeAt: 0, granularity: 'turn_boundary' };
  const whole = copilotCli.plan(bytes, context);
  let largest = 0;
  const file: FileBytes = {
    length: bytes.length,
    subarray: (start, end) => {
      largest = Math.max(largest, end - start);
      return bytes.subarray(start, end);
    },
  };
  const parts = copilotCli.planParts?.(file, context);
  expect(whole.commits.length).toBeGreaterThan(50);
  expect(parts).toMatchObject({ sessionId: 'large', cwd: '/work', end: whole.end, tips: whole.tips, side: whole.side });
  expect(parts?.commits.map(({ entries, elisions: _, ...commit }) => ({ ...commit, keys: entries.map(({ key }) => key) }))).toEqual(
    whole.commits.map(({ entries, elisions: _, ...commit }) => ({ ...commit, keys: entries.map(({ key }) => key) })),
  );
  expect(parts?.commits.at(-1)?.entries).toEqual(whole.commits.at(-1)?.entries);
  expect(largest).toBeLessThan(maxWholeBytes / 2);
});
