import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey, JsonObject } from '../../../../src/core/base/index.js';
import { type Chain, entries, fork, tips } from '../../../../src/core/chain/index.js';
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
const keys = (chain: Chain, id: ContextId): EntryKey[] => entries(chain, { id }).entries.map(({ key }) => key);
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
    expect(importInto(emptyChain(), path).skipped).toMatchObject([{ reason: 'it is in no format that Stemma imports' }]);
  });
});

describe('export', () => {
  const exported = (chain: Chain, id: ContextId): { path: string; document: JsonObject; losses: readonly { what: string }[] } => {
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
        const facts = (one: Chain, at: ContextId): unknown =>
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
    const words = (one: Chain, at: ContextId): string[] => said(one, at).filter((line) => !/ (image|event) /.test(line));
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
