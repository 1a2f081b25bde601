import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { tips } from '../../../src/core/chain/index.js';
import { loadTokenizer, usageCalls, usageOfContext, usageSeries } from '../../../src/core/usage/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';

beforeAll(loadTokenizer);

const fixtures = join(import.meta.dirname, '../../fixtures');

/** Checks every call of every branch of a history. Returns the number of counted calls. */
function checkParts(path: string): number {
  const chain = emptyChain();
  importInto(chain, path);
  let counted = 0;
  const seen = new Map<string, unknown>();
  for (const { id } of tips(chain, {})) {
    const { calls, kinds } = usageSeries(chain, id);
    const inList = usageCalls(chain, { id }).calls.filter(({ beside }) => beside === undefined);
    expect(calls.map(({ requestId }) => requestId)).toEqual(inList.map(({ requestId }) => requestId));
    for (const call of calls) {
      const content = { parts: call.parts, notRecorded: call.notRecorded };
      expect(seen.get(call.requestId) ?? content).toEqual(content);
      seen.set(call.requestId, content);
      if (call.counted === null) {
        expect(call.notRecorded).toBeNull();
        continue;
      }
      counted += 1;
      expect(call.notRecorded).toBeGreaterThanOrEqual(0);
      expect(call.parts.reduce((sum, part) => sum + part, call.notRecorded ?? 0)).toBe(call.counted);
    }
    const { counted: last, requestId, parts, notRecorded } = usageOfContext(chain, id);
    const inSeries = calls.find((call) => call.requestId === requestId);
    if (inSeries)
      expect(parts.flatMap(({ kind, tokens }) => (tokens > 0 ? [[kind, tokens]] : []))).toEqual(
        kinds.flatMap((kind, at) => (inSeries.parts[at] ? [[kind, inSeries.parts[at]]] : [])),
      );
    if (last !== null) expect(parts.reduce((sum, { tokens }) => sum + tokens, notRecorded ?? 0)).toBe(last);
  }
  expect(usageCalls(chain, {}).calls.filter(({ window, beside }) => window !== null && beside === undefined).length).toBeLessThanOrEqual(counted);
  return counted;
}

test.each([
  ['usage/branches.jsonl', 60],
  ['usage/one-hour-cache.jsonl', 20],
  ['usage/two-models.jsonl', 50],
  ['codex', 3],
  ['pi/tour.jsonl', 3],
  ['gemini/tour.jsonl', 3],
  ['cline/sdk-session.messages.json', 16],
] as const)('[N8] parts and what is not recorded add up, and are the same from every branch: %s', (name, least) => {
  expect(checkParts(join(fixtures, name))).toBeGreaterThanOrEqual(least);
});

const isHistory = (path: string): boolean => /\.(jsonl?|traj|eval|db|vscdb)$/.test(path) && !path.startsWith('cases');
test('[N8] parts add up for every counted call of all histories', { tags: 'long' }, () => {
  const histories = readdirSync(fixtures, { recursive: true, encoding: 'utf8' }).filter(isHistory);
  const counted = histories.map((path) => checkParts(join(fixtures, path)));
  expect(counted.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(1_000);
  expect(counted.filter((one) => one > 0).length).toBeGreaterThan(50);
});
