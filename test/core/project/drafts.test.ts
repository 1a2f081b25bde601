import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDrafts } from '../../../src/core/project/drafts.js';
import { heldClock, scratch } from '../../support/project.js';

test('[W41] drafts survive a restart, the latest first, and can be removed', () => {
  const dir = scratch();
  const clock = heldClock();
  const first = openDrafts(dir, clock);
  expect(first.list()).toEqual([]);
  first.save('a', 'one');
  first.save('b', 'two');
  first.save('a', 'three');
  const again = openDrafts(dir, clock);
  expect(again.list().map(({ key, text }) => [key, text])).toEqual([
    ['a', 'three'],
    ['b', 'two'],
  ]);
  again.save('a', null);
  expect(
    openDrafts(dir, clock)
      .list()
      .map(({ key }) => key),
  ).toEqual(['b']);
});

test('[W41] a damaged file of drafts counts as empty', () => {
  const dir = scratch();
  writeFileSync(join(dir, 'drafts.json'), '[{"key": 1}, {"key"');
  const drafts = openDrafts(dir, heldClock());
  expect(drafts.list()).toEqual([]);
  drafts.save('a', 'kept');
  expect(drafts.list()).toHaveLength(1);
});
