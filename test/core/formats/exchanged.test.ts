import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey, JsonObject } from '../../../src/core/base/index.js';
import { entries, show, tips, type WriteChain } from '../../../src/core/chain/index.js';
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

function imported(path: string): { readonly chain: WriteChain; readonly id: ContextId } {
  const chain = emptyChain();
  expect(importInto(chain, path).skipped).toEqual([]);
  return { chain, id: tips(chain, {})[0]?.id as ContextId };
}

const factsOf = ({ chain, id }: { chain: WriteChain; id: ContextId }): ReadonlyMap<EntryKey, object> =>
  new Map(
    entries(chain, { id }).entries.map(({ key, role, kind, text, toolCallId, isError, marks }) => [
      key,
      { role, kind, text, toolCallId, isError, marks },
    ]),
  );

/** The entries without marks: a result without its image says so in a mark. */
const wordsOf = (facts: ReadonlyMap<EntryKey, object>): (readonly [EntryKey, object])[] =>
  [...facts].map(([key, fact]) => [key, { ...fact, marks: undefined }]);

const transcripts = join(root, 'test/fixtures/claude-code');
/** Real sessions: with images of a person, inline subagents, images in results, and branches with compactions. */
const real = [
  'moredip-images-in-user-messages.jsonl',
  'happy-v1.0.71-inline-sidechains.jsonl',
  'excerpt-ada8171575ce-image-in-tool-result.jsonl',
  'excerpt-432b48f6b6e6-branch-2compact.jsonl',
];

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

/** What each exchange format loses of real sessions. */
describe.each([
  ['otlp-v1', 'spans.json', ['entry that the model never saw']],
  ['inspect-eval-v1', 'log.eval', ['entry that the model never saw']],
  ['atif-v1', 'trajectory.json', ['image', 'image in a tool result', 'entry that the model never saw']],
] as const)('real sessions of Claude Code through %s', (format, name, lost) => {
  test('[F25, F40] they come back whole but for losses that are named by entry', { tags: 'long' }, () => {
    const lossesOfAll = new Set<string>();
    for (const file of real) {
      const chain = emptyChain();
      const id = importInto(chain, join(transcripts, file)).tips.at(-1) as ContextId;
      const path = join(scratch(), name);
      const { losses } = exportContext(chain, { id, format, path });
      for (const { what } of losses) lossesOfAll.add(what);
      const named = new Set(losses.map(({ entry }) => entry));
      const expected = wordsOf(factsOf({ chain, id })).filter(([key]) => !named.has(key));
      expect(expected.length, file).toBeGreaterThan(4);
      const exchanged = imported(path);
      expect(wordsOf(factsOf(exchanged)), file).toEqual(expected);
      const back = join(scratch(), `${session}.jsonl`);
      exportContext(exchanged.chain, { id: exchanged.id, format: 'claude-code-v1', path: back });
      const returned = wordsOf(factsOf(imported(back)));
      expect(returned.slice(0, expected.length), file).toEqual(expected);
      // A session that the agent can resume has an answer to each of its calls.
      for (const [, added] of returned.slice(expected.length)) expect(added, file).toMatchObject({ kind: 'tool_result', isError: true });
    }
    expect([...lossesOfAll]).toEqual(lost);
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
