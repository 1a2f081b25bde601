import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { analysisProgress } from '../../../src/core/analysis/index.js';
import { prepareAnalysis } from '../../../src/core/project/asking.js';
import type { Project } from '../../../src/core/project/index.js';
import { desk } from '../../support/desk.js';
import { scratch } from '../../support/project.js';
import { transcript } from '../../support/transcript.js';

/** A project with commits that are not counted, while another connection holds its lock. */
async function lockedProject() {
  const dir = scratch();
  const file = join(dir, 'a.jsonl');
  writeFileSync(file, transcript('a', [{ prompt: 'Where is the damson jam?', answers: ['On the shelf.'] }]));
  const { engine, call } = desk(dir);
  await call.project.create({ dir: join(dir, 'p.stemma') });
  for await (const _ of await call.import.run({ paths: [file] })) void _;
  const project = engine.held(join(dir, 'p.stemma')) as Project;
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
