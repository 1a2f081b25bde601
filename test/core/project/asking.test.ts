import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { analysisProgress } from '../../../src/core/analysis/index.js';
import { prepareAnalysis } from '../../../src/core/project/asking.js';
import type { Project } from '../../../src/core/project/index.js';
import { catchUpIndex } from '../../../src/core/search/index.js';
import { desk } from '../../support/desk.js';
import { scratch } from '../../support/project.js';
import { transcript } from '../../support/transcript.js';

/** A project with commits that are not counted. */
async function importedProject(answer = 'On the shelf.') {
  const dir = scratch();
  const file = join(dir, 'a.jsonl');
  writeFileSync(file, transcript('a', [{ prompt: 'Where is the damson jam?', answers: [answer] }]));
  const { engine, call } = desk(dir);
  await call.project.create({ dir: join(dir, 'p.stemma') });
  for await (const _ of await call.import.run({ paths: [file] })) void _;
  return { dir, call, project: engine.held(join(dir, 'p.stemma')) as Project };
}

/** The same, while another connection holds its lock. */
async function lockedProject() {
  const { dir, project } = await importedProject();
  const other = new Database(join(dir, 'p.stemma', 'stemma.db'));
  onTestFinished(() => void other.close());
  other.exec('BEGIN IMMEDIATE');
  return { project, release: () => void other.exec('COMMIT') };
}

const left = ({ chain }: Project): number => {
  const { done, total } = analysisProgress(chain);
  return total - done;
};

test('a question waits until the own upkeep has stopped writing, and then counts everything', async () => {
  const { project, release } = await lockedProject();
  expect(left(project)).toBeGreaterThan(0);
  let isDone = false;
  const prepared = prepareAnalysis({ chain: project.chain, isTidying: () => true }).then(() => {
    isDone = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(isDone).toBe(false);
  release();
  await prepared;
  expect(left(project)).toBe(0);
});

test('a question does not wait for another process that holds the lock', async () => {
  const { project } = await lockedProject();
  await prepareAnalysis(project);
  expect(left(project)).toBeGreaterThan(0);
});

test('[T31] on a disk that has become full, lists and searches answer from what is there', async () => {
  const words = Array.from({ length: 20_000 }, (_, at) => `damson${at}`).join(' ');
  const { call, project } = await importedProject(words);
  const { db } = project.chain;
  db.value('PRAGMA derived.max_page_count = 1');
  expect(() => catchUpIndex(project.chain)).toThrow('the disk is full');
  expect(await call.search.query({ text: 'damson7' })).toMatchObject({ total: 0, pending: 1 });
  expect(await call.session.list({})).toMatchObject({ total: 1 });
  db.value('PRAGMA derived.max_page_count = 1000000');
  expect(await call.search.query({ text: 'damson7' })).toMatchObject({ total: 1 });
});
