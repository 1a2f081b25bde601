import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { createEngine } from '../../src/core/project/index.js';
import { derivedFile } from '../../src/core/store/index.js';
import { logAtAGlance } from '../../src/main/cli/glance.js';
import { run } from '../../src/main/cli/program.js';
import { importInto } from '../support/imports.js';
import { scratch } from '../support/project.js';

const fixtures = join(import.meta.dirname, '../fixtures');
const histories = ['usage/two-models.jsonl', 'usage/compacted.jsonl', 'codex', 'subagents'].map((path) => join(fixtures, path));

/** What a call writes to both streams of its terminal. */
async function written(work: () => unknown): Promise<string> {
  const texts: string[] = [];
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((text) => texts.push(String(text)) > 0),
  );
  await work();
  for (const spy of spies) spy.mockRestore();
  return texts.join('');
}

const stemma = (...words: string[]): Promise<string> => written(() => run(['node', 'stemma', ...words]));

/** A trusted project with histories, and the words that name it. */
async function project(...imported: readonly string[]) {
  const dir = scratch();
  vi.stubEnv('STEMMA_HOME', join(dir, 'data'));
  const named = ['--project', join(dir, 'p.stemma')];
  const engine = createEngine({
    dataDir: join(dir, 'data'),
    agentRoots: [],
    sampleDir: dir,
    startup: { paths: [], project: null },
    platform: 'linux',
  });
  const { chain } = engine.create({ dir: join(dir, 'p'), name: 'p' });
  for (const path of imported) importInto(chain, path);
  engine.close();
  return { dir: join(dir, 'p.stemma'), named };
}

/** What `stemma log` prints at a glance. Undefined, and nothing printed, if it leaves the command to the whole program. */
async function glance(...words: string[]): Promise<string | undefined> {
  let isDone = false;
  const text = await written(() => {
    isDone = logAtAGlance(words);
  });
  if (!isDone) expect(text).toBe('');
  return isDone ? text : undefined;
}

test('stemma log at a glance prints what the whole program prints', async () => {
  const { named } = await project(...histories);
  const [tip] = JSON.parse(await stemma('log', '--json', ...named)).rows as { commit: { id: string } }[];
  for (const words of [[], ['-n', '3'], ['--limit=0']]) {
    const whole = await stemma('log', ...words, ...named);
    expect(whole).toContain('ctx-');
    expect(await glance(...words, ...named)).toBe(whole);
  }
  const json = await stemma('log', '--json', '-n', '5', ...named);
  expect(JSON.parse((await glance('--json', '-n', '5', ...named)) ?? '')).toEqual(JSON.parse(json));
  await stemma('fork', tip?.commit.id ?? '', '--edits', '[{"op":"append","entry":{"role":"user","text":"Try it again"}}]', ...named);
  const forked = await stemma('log', ...named);
  expect(forked).toContain('fork');
  expect([undefined, forked]).toContain(await glance(...named));
});

test('stemma log at a glance says that a project is empty', async () => {
  const { named } = await project();
  expect(await glance(...named)).toBe(await stemma('log', ...named));
});

test('stemma log leaves to the whole program what one look does not answer', async () => {
  const { dir, named } = await project(...histories);
  for (const words of [['--help'], ['ctx-12345678'], ['-n', 'x'], ['--unknown'], ['--trust']])
    expect(await glance(...words, ...named)).toBeUndefined();
  expect(await glance('--project', join(dir, 'none'))).toBeUndefined();
  rmSync(derivedFile(join(dir, 'stemma.db')));
  expect(await glance(...named)).toBeUndefined();
});

test('stemma log leaves the mark of damaged texts to the whole program', async () => {
  const { dir, named } = await project(...histories);
  const { rows } = JSON.parse(await stemma('log', '--json', ...named)) as { rows: { commit: { id: string } }[] };
  await stemma('call', 'branch.rename', '--input', JSON.stringify({ commit: rows[0]?.commit.id, title: 'A name that a person typed' }), ...named);
  expect(await glance(...named)).toBeDefined();
  const database = new Database(join(dir, 'stemma.db'));
  database.exec("UPDATE branchMark SET title = 'A name that nobody typed'");
  database.close();
  expect(await glance(...named)).toBeUndefined();
});

test('stemma log leaves an untrusted project and one with a lost manifest to the whole program', async () => {
  const { dir, named } = await project(...histories);
  expect(await glance(...named)).toBeDefined();
  writeFileSync(join(dir, 'project.json'), '');
  expect(await glance(...named)).toBeUndefined();
  vi.stubEnv('STEMMA_HOME', scratch());
  expect(await glance(...named)).toBeUndefined();
});
