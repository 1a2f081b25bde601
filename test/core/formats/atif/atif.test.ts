import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey, JsonObject } from '../../../../src/core/base/index.js';
import { entries, fork, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { exportContext } from '../../../../src/core/export/index.js';
import { atif } from '../../../../src/core/formats/atif/index.js';
import { detect, listSources } from '../../../../src/core/import/index.js';
import { listRequests } from '../../../../src/core/requests/index.js';
import { usageCalls, usageSessions } from '../../../../src/core/usage/index.js';
import { bytesOfFile, importInto, said } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { filesBelow, root } from '../../../support/source.js';
import { survivesAnyBytes } from '../each-byte.js';
import { problemsIn } from './validator.js';

const fixture = (name: string): string => join(root, 'test/fixtures/atif', name);
const samples = [
  'openhands_hello-world.trajectory.json',
  'nemo_exmp06_atif.json',
  'letta_cleanup_input.json',
  'daydream_multi_phase_v1.6.json',
  'made-here-v1.8/trajectory.json',
  'terminus-2_summarization-linear/trajectory.json',
  'terminus-2_summarization-linear/trajectory.cont-1.json',
];
const keys = (chain: WriteChain, id: ContextId): EntryKey[] => entries(chain, { id }).entries.map(({ key }) => key);
const read = (path: string): JsonObject => JSON.parse(readFileSync(path, 'utf8')) as JsonObject;

describe('import', () => {
  test.each(samples)('[F21] the sample %s comes back byte for byte', (name) => {
    const chain = emptyChain();
    const path = fixture(name);
    const result = importInto(chain, path);
    expect(result.skipped).toEqual([]);
    expect(bytesOfFile(chain, path)).toEqual(readFileSync(path));
    expect(detect([path])).toMatchObject([{ format: 'atif-v1', confidence: 1 }]);
    const { commits } = importInto(chain, path);
    expect(commits).toBe(0);
  });

  test('[F39] every part of a trajectory has its place', () => {
    const chain = emptyChain();
    const path = fixture('made-here-v1.8/trajectory.json');
    importInto(chain, path);
    const all = tips(chain, {}).map(({ id }) => said(chain, id, 'root'));
    const main = all.find((lines) => lines.some((line) => line.includes('You are a careful')));
    expect(main?.slice(0, 9)).toEqual([
      'system text  You are a careful assistant.',
      'user text  What is in this picture, and what does t',
      'user image  ',
      'assistant thinking  Two tools, in parallel.',
      'assistant text  Let me look.',
      'assistant tool_call read ',
      'assistant tool_call task ',
      'tool tool_result read ENOENT: no such file',
      'tool tool_result task b.txt is fine',
    ]);
    expect(main?.[9]).toBe('user text  hook: formatted 1 file');
    expect(all.length).toBe(2);
    expect(chain.db.all('SELECT toolCallId FROM started')).toEqual([{ toolCallId: 'session:sub-1' }]);
    const id = tips(chain, {}).find((tip) => said(chain, tip.id, 'root').includes('assistant text  Let me look.'))?.id as ContextId;
    expect(listRequests(chain, { id, stop: 'root' })[0]?.tokens).toEqual({ input: 100, output: 80, cacheRead: 1000, cacheWrite: 100 });
    expect(
      entries(chain, { id, stop: 'root' })
        .entries.filter(({ isError }) => isError)
        .map(({ text }) => text),
    ).toEqual(['ENOENT: no such file']);
  });

  test('[F39] a continuation repeats its context, and its calls count once', () => {
    const chain = emptyChain();
    const path = fixture('terminus-2_summarization-linear/trajectory.cont-1.json');
    const { tips: all } = importInto(chain, path);
    const copied = (read(path).steps as JsonObject[]).filter((step) => step.is_copied_context === true && step.source === 'agent');
    expect(copied.length).toBeGreaterThan(0);
    const rows = listRequests(chain, { id: all[0] as ContextId, stop: 'root' });
    expect(rows.filter(({ tokens }) => tokens.output === null).length).toBe(copied.length);
  });

  test.each([
    ['in order', ['trajectory.json', 'trajectory.cont-1.json']],
    ['the continuation first', ['trajectory.cont-1.json', 'trajectory.json']],
  ])('[F39, N2] a trajectory and its continuation are one session with the calls of both: %s', (_, names) => {
    const chain = emptyChain();
    for (const name of names) importInto(chain, fixture(`terminus-2_summarization-linear/${name}`));
    const sums = usageSessions(chain, {});
    expect(sums).toMatchObject({ total: 1, totals: { calls: 7, unknownOutputs: 0, tokens: { input: 6_502, output: 690 } } });
    const own = tips(chain, {}).map(({ id }) => said(chain, id, 'root'));
    expect(own.filter((lines) => lines.some((line) => line.startsWith('user text  You are picking up work')))).toHaveLength(1);
    for (const { id } of tips(chain, {})) {
      const path = join(scratch(), 'again.json');
      exportContext(chain, { id, format: 'atif-v1', path, stop: 'root' });
      const again = emptyChain();
      importInto(again, path);
      expect(usageCalls(again, {}).total).toBe(usageCalls(chain, { id }).total);
    }
  });

  test('[F22] a document of another version is refused', () => {
    const path = join(scratch(), 'odd.json');
    writeFileSync(path, JSON.stringify({ schema_version: 'atif/1', agent: {}, steps: [] }));
    expect(importInto(emptyChain(), path).skipped).toMatchObject([
      { reason: 'it is in no format that Stemma imports: its schema_version is "atif/1", and Stemma reads ATIF-v1.0 to ATIF-v1.8' },
    ]);
  });
});

describe('the rules of the validator', () => {
  const step = { step_id: 1, source: 'agent', message: '' } satisfies JsonObject;
  const document = (...steps: JsonObject[]): JsonObject => ({ schema_version: 'ATIF-v1.8', agent: { name: 'a', version: '1' }, steps });
  const resultOf = (result: JsonObject): JsonObject =>
    document({ ...step, tool_calls: [{ tool_call_id: 'c', function_name: 'f', arguments: {} }], observation: { results: [result] } });

  test.each<[string, JsonObject, RegExp | undefined]>([
    ['a plain step', document(step), undefined],
    ['a field that ATIF does not have', document({ ...step, colour: 'red' }), /additional/],
    ['arguments that are a list', document({ ...step, tool_calls: [{ tool_call_id: 'c', function_name: 'f', arguments: [] }] }), /object/],
    ['no steps', document(), /fewer than 1/],
    ['a gap in the numbers', document(step, { ...step, step_id: 3 }), /step_id is 3/],
    ['metrics of a user', document({ ...step, source: 'user', metrics: {} }), /only an agent has metrics/],
    ['a result of another call', resultOf({ source_call_id: 'd' }), /result of d/],
    ['a result of its call', resultOf({ source_call_id: 'c' }), undefined],
    ['metrics without a call', document({ ...step, llm_call_count: 0, metrics: {} }), /no call to a model/],
    ['a time in words', document({ ...step, timestamp: 'Nov 1 2026' }), /is not a time/],
    ['a subagent by its session', resultOf({ subagent_trajectory_ref: [{ session_id: 's' }] }), /only by its session/],
    ['a subagent by its id', resultOf({ subagent_trajectory_ref: [{ trajectory_id: 's' }] }), undefined],
    ['a subagent without an id', { ...document(step), subagent_trajectories: [document(step)] }, /no trajectory_id/],
    ['an image with a text', document({ ...step, message: [{ type: 'image', text: 'x' }] }), /image has no source/],
    [
      'a text in a result with a source',
      resultOf({ content: [{ type: 'text', source: { media_type: 'image/png', path: 'a.png' } }] }),
      /a text has no text/,
    ],
  ])('%s', (_, value, problem) => {
    if (problem) expect(problemsIn(value).join('\n')).toMatch(problem);
    else expect(problemsIn(value)).toEqual([]);
  });

  test('the files that a document names exist', () => {
    const path = fixture('made-here-v1.8/trajectory.json');
    expect(problemsIn(read(path), dirname(path))).toEqual([]);
    expect(problemsIn(read(path), scratch()).join('\n')).toMatch(/step_2.png does not exist/);
  });

  test.each(samples)('[F40] %s is exported as a valid document of each of its trajectories', (name) => {
    const chain = emptyChain();
    importInto(chain, fixture(name));
    for (const { id } of tips(chain, {})) {
      const path = join(scratch(), 'again.json');
      exportContext(chain, { id, format: 'atif-v1', path, stop: 'root' });
      expect(problemsIn(read(path))).toEqual([]);
    }
  });
});

test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('[F39] a document of version 1.%i is read, and written in a version that allows its fields', (minor) => {
  const path = join(scratch(), 'trajectory.json');
  const results = [
    { source_call_id: 'c', content: 'done', subagent_trajectory_ref: [{ session_id: 'child', ...(minor > 6 && { trajectory_id: 'child' }) }] },
  ];
  const calls = [{ tool_call_id: 'c', function_name: 'task', arguments: { prompt: 'x' } }];
  const steps = [
    { step_id: 1, source: 'user', message: 'Go' },
    { step_id: 2, source: 'agent', message: 'I delegate.', model_name: 'm', tool_calls: calls, observation: { results } },
  ];
  writeFileSync(path, JSON.stringify({ schema_version: `ATIF-v1.${minor}`, session_id: 's', agent: { name: 'a', version: '1' }, steps }));
  const chain = emptyChain();
  const { tips: all, skipped } = importInto(chain, path);
  expect(skipped).toEqual([]);
  const id = all[0] as ContextId;
  expect(said(chain, id)).toEqual(['user text  Go', 'assistant text  I delegate.', 'assistant tool_call task ', 'tool tool_result task done']);
  const back = join(scratch(), 'back.json');
  exportContext(chain, { id, format: 'atif-v1', path: back });
  const written = read(back);
  expect(problemsIn(written)).toEqual([]);
  // The session of the subagent is kept, although a reference may no longer consist of it alone.
  expect(JSON.stringify(written)).toContain('"session_id":"child"');
  const again = emptyChain();
  const second = importInto(again, back).tips[0] as ContextId;
  expect(keys(again, second)).toEqual(keys(chain, id));
  const last = join(scratch(), 'last.json');
  exportContext(again, { id: second, format: 'atif-v1', path: last });
  expect(read(last).steps).toEqual(written.steps);
});

describe('export', () => {
  const exported = (chain: WriteChain, id: ContextId): { path: string; document: JsonObject; losses: readonly { what: string }[] } => {
    const path = join(scratch(), 'trajectory.json');
    const { lossCounts } = exportContext(chain, { id, format: 'atif-v1', path });
    return { path, document: read(path), losses: lossCounts };
  };

  test.each(['test/fixtures/pi/tour.jsonl', ...filesBelow('resources/sample', (path) => path.endsWith('.jsonl')).slice(0, 3)])(
    '[F40] an export of %s is valid, and its import has the same entries and keys',
    (name) => {
      const chain = emptyChain();
      importInto(chain, join(root, name));
      for (const { id } of tips(chain, {})) {
        const { path, document } = exported(chain, id);
        expect(problemsIn(document)).toEqual([]);
        const again = emptyChain();
        const { tips: all, skipped } = importInto(again, path);
        expect(skipped).toEqual([]);
        const facts = (one: WriteChain, at: ContextId): unknown =>
          entries(one, { id: at })
            .entries.filter(({ kind }) => kind !== 'image' && kind !== 'event')
            .map(({ key, kind, text, toolCallId, isError }) => ({ key, kind, text, toolCallId, isError: isError ?? false }));
        expect(facts(again, all[0] as ContextId)).toEqual(facts(chain, id));
      }
    },
  );

  test('[F40] Claude Code through ATIF and back keeps thinking with its signature', () => {
    const chain = emptyChain();
    importInto(chain, join(root, filesBelow('resources/sample', (path) => path.endsWith('.jsonl'))[0] as string));
    const id = tips(chain, {})[0]?.id as ContextId;
    const { path, losses } = exported(chain, id);
    expect(losses.map(({ what }) => what).filter((what) => !/image|note of the runtime|never saw|provider/.test(what))).toEqual([]);
    const middle = emptyChain();
    const { tips: all } = importInto(middle, path);
    const back = join(scratch(), 'back.jsonl');
    exportContext(middle, { id: all[0] as ContextId, format: 'claude-code-v1', path: back });
    const last = emptyChain();
    const { tips: ends } = importInto(last, back);
    const words = (one: WriteChain, at: ContextId): string[] => said(one, at).filter((line) => !/ (image|event) /.test(line));
    expect(words(last, ends[0] as ContextId)).toEqual(words(chain, id));
  });

  test('a trajectory keeps what only ATIF has, and is numbered anew', () => {
    const chain = emptyChain();
    importInto(chain, fixture('openhands_hello-world.trajectory.json'));
    const id = tips(chain, {})[0]?.id as ContextId;
    const { document } = exported(chain, id);
    const source = read(fixture('openhands_hello-world.trajectory.json'));
    expect(problemsIn(document)).toEqual([]);
    expect(document.agent).toEqual(source.agent);
    expect((document.steps as JsonObject[]).map(({ metrics }) => metrics)).toEqual((source.steps as JsonObject[]).map(({ metrics }) => metrics));
  });
});

test('[F13] a cut inside a step keeps the entries so far under their keys', () => {
  const chain = emptyChain();
  importInto(chain, fixture('nemo_exmp06_atif.json'));
  const id = tips(chain, {})[0]?.id as ContextId;
  const all = keys(chain, id);
  for (const [at, key] of all.entries()) expect(keys(chain, fork(chain, { id, at: key }).id)).toEqual(all.slice(0, at + 1));
});

test('[F10] any bytes anywhere do no harm', () => {
  const chain = emptyChain();
  importInto(chain, fixture('nemo_exmp06_atif.json'));
  const member = listSources(chain).find(({ path }) => path.includes('#'));
  survivesAnyBytes(atif, bytesOfFile(chain, member?.path ?? ''));
  const document = readFileSync(fixture('nemo_exmp06_atif.json'));
  for (let end = 0; end < document.length; end += 97) atif.exports?.members(document.subarray(0, end));
  expect(basename(dirname(fixture('x')))).toBe('atif');
});
