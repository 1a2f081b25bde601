import fc from 'fast-check';
import { expect } from 'vitest';
import type { ImportableFormat, ImportPlan } from '../../../src/core/formats/index.js';
import { runs } from '../../support/properties.js';

/** Plans a file of which nothing is known, and checks that each of its bytes is in one commit or in the side data. */
export function plannedWhole(format: ImportableFormat, file: Uint8Array): ImportPlan {
  const plan = format.plan(file, { path: '/s.jsonl', known: { has: () => false }, resumeAt: 0, granularity: 'tool_call' });
  const ranges = [...plan.commits.flatMap((commit) => commit.ranges), ...plan.side].sort((a, b) => a.start - b.start);
  let end = 0;
  for (const range of ranges) {
    expect(range.start).toBe(end);
    end = range.end;
  }
  expect(end).toBe(file.length);
  return plan;
}

/** Overwrites any part of a real file with any bytes and cuts it anywhere. The reader of the format must cope. */
export function survivesAnyBytes(format: ImportableFormat, source: Uint8Array, check: (plan: ImportPlan) => void = () => {}): void {
  const place = fc.nat(source.length);
  fc.assert(
    fc.property(place, fc.uint8Array({ maxLength: 40 }), fc.nat(300), place, (at, put, gone, keep) => {
      const file = Buffer.concat([source.subarray(0, at), put, source.subarray(Math.min(source.length, at + gone))]);
      check(plannedWhole(format, file));
      check(plannedWhole(format, file.subarray(0, keep)));
      format.parse(file);
      format.peek?.(file.subarray(0, 4_000), file.subarray(-4_000));
      const { settled, resting } = format.progress?.(file, 'turn_boundary') ?? { settled: 0, resting: 0 };
      expect(settled <= resting && resting <= file.length).toBe(true);
    }),
    { numRuns: runs(50) },
  );
}
