import { createHash, createHmac } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importAgain } from '../../src/core/integrity/again.js';
import { pull, push } from '../../src/core/sync/index.js';
import { fakeHub } from '../support/fake-hub.js';
import { importInto } from '../support/imports.js';
import { emptyChain, emptyProject, scratch } from '../support/project.js';

const fixtures = join(import.meta.dirname, '../fixtures');
const run = (work: Iterable<unknown>): void => {
  for (const _ of work);
};

/** A project whose source a hub sent with a hostile path. */
async function poisoned(path: string) {
  const theirs = emptyChain();
  importInto(theirs, join(fixtures, 'codex'));
  const hub = fakeHub();
  await push(theirs, hub);
  for (const [i, item] of hub.list.entries()) if (item.kind === 'source') hub.list[i] = { ...item, body: { ...item.body, path } };
  const mine = emptyChain();
  await pull(mine, hub);
  expect(mine.db.all<{ path: string }>('SELECT path FROM source').every((row) => row.path === path)).toBe(true);
  return mine;
}

test('[S24] repair writes copies only inside its own folder, whatever path a hub sends', { tags: 'long', timeout: 120_000 }, async () => {
  const outside = scratch();
  const victim = join(outside, 'victim.jsonl');
  const paths = [
    join(outside, 'new.jsonl'),
    `../../../../../../../../../..${join(outside, 'up.jsonl')}`,
    'a/../../../../x.jsonl',
    '..',
    '.',
    '/',
    'C:\\x.jsonl',
    'a\\..\\..\\b',
    `${'n'.repeat(300)}.jsonl`,
  ];
  for (const path of paths) {
    const mine = await poisoned(path);
    const again = emptyProject();
    const dir = join(scratch(), 'again');
    run(importAgain(mine, { dir: again.dir, chain: again.chain, close: () => {} }));
    expect(existsSync(dir)).toBe(false);
    expect(readdirSync(outside), path).toEqual([]);
    expect(readdirSync(join(again.dir, 'sources')).every((name) => /^[0-9a-f]{64}$/.test(name))).toBe(true);
  }
  expect(existsSync(victim)).toBe(false);
});

test('[S24] only a path that this machine imported is read from the disk again', async () => {
  const outside = scratch();
  const secret = join(outside, 'secret.jsonl');
  const own = emptyChain();
  importInto(own, join(fixtures, 'pi'));
  const { path: ownPath } = own.db.one<{ path: string }>('SELECT path FROM source') ?? { path: '' };
  writeFileSync(secret, readFileSync(ownPath));
  const mine = await poisoned(secret);
  const again = emptyProject();
  run(importAgain(mine, { dir: again.dir, chain: again.chain, close: () => {} }));
  const formats = (chain: typeof mine) => [...new Set(chain.db.all<{ format: string }>('SELECT format FROM source').map(({ format }) => format))];
  expect(formats(again.chain)).toEqual(formats(mine));
  const second = emptyProject();
  run(importAgain(own, { dir: second.dir, chain: second.chain, close: () => {} }));
  expect(second.chain.db.one<{ path: string }>('SELECT path FROM source')?.path).toBe(ownPath);
  own.db.run('UPDATE source SET path = ?', secret);
  const third = emptyProject();
  run(importAgain(own, { dir: third.dir, chain: third.chain, close: () => {} }));
  expect(third.chain.db.one<{ path: string }>('SELECT path FROM source')?.path).not.toBe(secret);
});

test('[S24] a row names a place on the disk only with the seal of this machine', async () => {
  const outside = scratch();
  const secret = join(outside, 'secret.jsonl');
  const others = emptyChain();
  importInto(others, join(fixtures, 'pi/tour.jsonl'));
  const { path } = others.db.one<{ path: string }>('SELECT path FROM source') ?? { path: '' };
  writeFileSync(secret, readFileSync(join(fixtures, 'pi/tour-fork.jsonl')));
  const { sourceId } = others.db.one<{ sourceId: string }>('SELECT sourceId FROM source') ?? { sourceId: '' };
  const digest = createHash('sha256').update(`imported here\0${sourceId}\0${secret}`).digest('hex');
  const readAgain = (recorded: string | null, at: string): string[] => {
    others.db.run('UPDATE source SET path = ?, recorded = ?', at, recorded);
    const again = emptyProject();
    run(importAgain(others, { dir: again.dir, chain: again.chain, close: () => {} }));
    return again.chain.db.all<{ path: string }>('SELECT path FROM source').map((row) => row.path);
  };
  // Whoever sends a project can write the empty record and the digest of earlier versions, but no seal.
  for (const recorded of ['', digest, null, 'f'.repeat(64)]) expect(readAgain(recorded, secret), String(recorded)).not.toContain(secret);
  // A project of an earlier version: the file is still what was imported.
  expect(readAgain('', path)).toEqual([path]);
  writeFileSync(secret, readFileSync(path));
  expect(readAgain(digest, secret)).toEqual([secret]);
  // Another machine made the seal.
  const seal = createHmac('sha256', 'a key').update(`source\0${sourceId}\0${secret}`).digest('hex');
  expect(readAgain(seal, secret)).not.toContain(secret);
});
