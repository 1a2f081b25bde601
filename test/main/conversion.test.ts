import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/base/index.js';
import { createProject } from '../../src/core/project/index.js';
import { registerSums, watchRows } from '../../src/core/store/sums.js';
import { ensureBuilt } from '../support/built.js';
import { machine } from '../support/machine.js';
import { olderDatabase } from '../support/older.js';
import { scratch } from '../support/project.js';
import { inTerminal } from '../support/pty.js';

beforeAll(ensureBuilt);

/** A project of format 47. */
function oldProject(): string {
  const dir = join(scratch(), 'old.stemma');
  createProject({ dir, projectId: 'old' }, systemClock).close();
  for (const name of readdirSync(dir)) if (name.startsWith('derived') || name.startsWith('stemma.db')) rmSync(join(dir, name));
  const old = new Database(olderDatabase(47));
  registerSums(old);
  watchRows(old);
  old.exec("INSERT INTO project (no, projectId, name, createdAt) VALUES (1, 'old', 'old', 0)");
  writeFileSync(join(dir, 'stemma.db'), old.serialize());
  old.close();
  return dir;
}

test('[S8] a command says that it converts a project, once', { tags: 'long' }, async () => {
  await using own = machine();
  const dir = oldProject();
  const words = ['log', '--project', dir, '--trust'];
  const first = await own.run(...words);
  expect([first.code, first.err]).toEqual([0, expect.stringContaining(`Converting ${dir} from an earlier format. A copy of it stays`)]);
  expect((await own.run(...words)).err).not.toContain('Converting');
  const shown = await inTerminal(own, ['log', '--project', oldProject(), '--trust']);
  expect([shown.code, shown.text]).toEqual([0, expect.stringContaining('Converting')]);
});
