import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey, JsonObject } from '../../../src/core/base/index.js';
import { type Chain, entries, show, tips } from '../../../src/core/chain/index.js';
import { exportContext } from '../../../src/core/export/index.js';
import { claudeCode } from '../../../src/core/formats/index.js';
import { everySort } from '../../support/every-sort.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { root } from '../../support/source.js';
import { problemsIn } from './atif/validator.js';

const session = '22222222-2222-4222-8222-222222222222';

/** A session of Claude Code with entries of every kind. */
function sessionFile(): string {
  let last = 0;
  const newId = (): string => `00000000-0000-4000-8000-${String(++last).padStart(12, '9')}`;
  const path = join(scratch(), `${session}.jsonl`);
  writeFileSync(path, claudeCode.write(everySort, { newId, now: '2026-02-01T00:00:00.000Z' as never, sessionId: session, cwd: '/work' }));
  return path;
}

function imported(path: string): { readonly chain: Chain; readonly id: ContextId } {
  const chain = emptyChain();
  expect(importInto(chain, path).skipped).toEqual([]);
  return { chain, id: tips(chain, {})[0]?.id as ContextId };
}

const factsOf = ({ chain, id }: { chain: Chain; id: ContextId }): ReadonlyMap<EntryKey, object> =>
  new Map(
    entries(chain, { id }).entries.map(({ key, role, kind, text, toolCallId, isError, marks }) => [
      key,
      { role, kind, text, toolCallId, isError, marks },
    ]),
  );

/** The entries without marks: a result without its image says so in a mark. */
const wordsOf = (facts: ReadonlyMap<EntryKey, object>): unknown[] => [...facts].map(([key, fact]) => [key, { ...fact, marks: undefined }]);

/** Each exchange format with the entries that it loses. */
describe.each([
  ['otlp-v1', 'spans.json', []],
  ['inspect-eval-v1', 'log.eval', []],
  ['atif-v1', 'trajectory.json', ['image', 'image in a tool result']],
] as const)('a session of Claude Code through %s', (format, name, lost) => {
  test('[F25, F40] comes back whole but for losses that are named by entry', () => {
    const source = imported(sessionFile());
    const path = join(scratch(), name);
    const { losses } = exportContext(source.chain, { id: source.id, format, path });
    expect(losses.map(({ what }) => what)).toEqual(lost);
    if (format === 'atif-v1') expect(problemsIn(JSON.parse(readFileSync(path, 'utf8')) as JsonObject)).toEqual([]);
    const named = new Set(losses.map(({ entry }) => entry));
    const expected = new Map([...factsOf(source)].filter(([key]) => !named.has(key)));
    const exchanged = imported(path);
    expect(factsOf(exchanged)).toEqual(expected);
    const back = join(scratch(), `${session}.jsonl`);
    expect(exportContext(exchanged.chain, { id: exchanged.id, format: 'claude-code-v1', path: back }).losses).toEqual([]);
    // The system prompt lies before the summary, with which the context of Claude Code begins.
    expect(wordsOf(factsOf(imported(back)))).toEqual(wordsOf(expected).slice(1));
  });
});

test('[F12, F41] an export for OpenClaw is recognized, and its import has the same entries', () => {
  const { chain } = imported(join(root, 'test/fixtures/pi/tour.jsonl'));
  const [tip] = tips(chain, {});
  const id = tip?.id as ContextId;
  const path = join(scratch(), 'session.jsonl');
  exportContext(chain, { id, format: 'openclaw-v1', path });
  const again = imported(path);
  expect(show(again.chain, again.id).format).toBe('openclaw-v1');
  expect(wordsOf(factsOf(again))).toEqual(wordsOf(factsOf({ chain, id })));
});
