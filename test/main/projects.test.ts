import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findProject, searchedFolders } from '../../src/main/launch/index.js';
import { scratch } from '../support/project.js';
import { refusal } from '../support/refusal.js';

test('[T5] the search ends at the home folder, or at the root outside of it', () => {
  const home = scratch();
  const work = join(home, 'a', 'b');
  mkdirSync(work, { recursive: true });
  expect(searchedFolders(work, home, [])).toEqual([work, join(home, 'a'), home]);
  const outside = searchedFolders(work, join(home, 'other'), []);
  expect(outside.slice(0, 3)).toEqual([work, join(home, 'a'), home]);
  expect(outside.at(-1)).toBe('/');
});

test('[T5] the search skips folders for temporary files above the working folder', () => {
  const temporary = scratch();
  const work = join(temporary, 'a');
  mkdirSync(work);
  expect(searchedFolders(work, '/nobody', [temporary])).not.toContain(temporary);
  expect(searchedFolders(temporary, '/nobody', [temporary])[0]).toBe(temporary);
});

test('[T4] several projects are refused with their names, however they are trusted', () => {
  const folder = scratch();
  for (const name of ['one', 'two']) mkdirSync(join(folder, `${name}.stemma`, 'project.json'), { recursive: true });
  const search = { cwd: folder, env: { STEMMA_HOME: join(folder, 'data') }, trusts: true };
  const candidates = [join(folder, 'one.stemma'), join(folder, 'two.stemma')];
  expect(refusal(() => findProject(undefined, search))).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'project', candidates } });
  expect(findProject('one.stemma', search)).toEqual({ dir: candidates[0], isFound: false });
  expect(findProject(undefined, { ...search, cwd: candidates[1] as string })).toEqual({ dir: candidates[1], isFound: true });
});
