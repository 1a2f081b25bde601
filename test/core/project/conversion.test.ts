import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/core/base/index.js';
import { createProject } from '../../../src/core/project/index.js';
import { formatVersion } from '../../../src/core/store/index.js';
import { registerSums, watchRows } from '../../../src/core/store/sums.js';
import { door } from '../../support/door.js';
import { olderDatabase } from '../../support/older.js';
import { scratch } from '../../support/project.js';

test('[S8] the conversion of an earlier project says how far it is, until the copy is gone', async () => {
  const { client, project } = door();
  expect(await client.project.conversion({ dir: project.dir })).toBeNull();
  const dir = join(scratch(), 'old.stemma');
  createProject({ dir, projectId: 'old' }, systemClock).close();
  const [file, partial] = [join(dir, 'stemma.db'), join(dir, 'stemma.db.format-47.part')];
  for (const name of readdirSync(dir)) if (name.startsWith('derived') || name.startsWith('stemma.db')) rmSync(join(dir, name));
  const old = new Database(olderDatabase(47));
  registerSums(old);
  watchRows(old);
  old.exec("INSERT INTO project (no, projectId, name, createdAt) VALUES (1, 'old', 'old', 0)");
  writeFileSync(file, old.serialize());
  old.close();
  const { size } = statSync(file);

  writeFileSync(partial, 'begun');
  expect(await client.project.conversion({ dir })).toEqual({ from: 47, to: formatVersion, isCopied: false, copied: 5, bytes: size });
  rmSync(partial);
  await client.project.trust({ dir });
  await client.project.open({ dir });
  expect(await client.project.conversion({ dir })).toMatchObject({ from: 47, to: formatVersion, isCopied: true });
  expect((await client.project.check({})).ok).toBe(true);
  expect(await client.project.conversion({ dir })).toBeNull();
});
