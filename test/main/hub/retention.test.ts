import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/core/replicas/index.js';
import { pull, push } from '../../../src/core/sync/index.js';
import { openHubDatabase, removeExpired } from '../../../src/main/hub/index.js';
import { commitText, digestsOf, startTestHub, type TestHub } from '../../support/hub.js';
import { emptyChain } from '../../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

const files = (): number => readdirSync(hub.objectsDir, { recursive: true, withFileTypes: true }).filter((each) => each.isFile()).length;
const run = async (): Promise<number> => {
  const database = await openHubDatabase(hub.databaseUrl);
  const removed = await removeExpired(database, openStore('hub', { kind: 'folder', dir: hub.objectsDir }));
  await database.close();
  return removed;
};
/** Makes everything in a project older. */
const age = (project: string, days: number) =>
  hub.query(`UPDATE pack SET at = at - interval '${days} days' FROM project p WHERE p.no = pack.project AND p.name = '${project}'`);

describe('retention', () => {
  test('[E38] contents are removed after their days; commits and other projects keep theirs', { tags: 'long' }, async () => {
    const [mine, others] = [emptyChain(), emptyChain()];
    const old = commitText(mine, 'what is old');
    commitText(others, 'what is old');
    await push(mine, await hub.project('short'));
    await push(others, await hub.project('long'));
    await hub.client().projects.retain({ project: 'short', days: 30 });
    await age('short', 31);
    await age('long', 31);
    const young = commitText(mine, 'what is young', old.id);
    await push(mine, await hub.project('short'));
    const before = files();
    expect(await run()).toBe(1);
    expect(files()).toBe(before - 1);
    expect(await run()).toBe(0);
    const clone = emptyChain();
    expect((await pull(clone, await hub.project('short'))).refused).toEqual([]);
    expect(digestsOf(clone)).toEqual(digestsOf(mine));
    const contents = clone.db.all<{ id: string; gone: string | null }>('SELECT c.id, a.gone FROM commits c JOIN artifact a ON a.no = c.artifact');
    expect(contents).toEqual([
      { id: old.id, gone: 'expired' },
      { id: young.id, gone: null },
    ]);
    const other = emptyChain();
    await pull(other, await hub.project('long'));
    expect(other.db.one('SELECT gone FROM artifact')).toEqual({ gone: null });
    // A fork that is pushed by somebody who has the content brings it back.
    const again = emptyChain();
    commitText(again, 'what is old');
    await push(again, await hub.project('short'));
    const fresh = emptyChain();
    await pull(fresh, await hub.project('short'));
    expect(fresh.db.all("SELECT 1 FROM artifact WHERE gone = 'expired'")).toEqual([]);
  });

  test('[E38] only admins set it, for their project', async () => {
    await hub.project('own');
    const { token } = await hub.client().members.add({ project: 'own', name: 'w', role: 'writer' });
    await expect(hub.client(token).projects.retain({ project: 'own', days: 1 })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect((await hub.client().sync.hello({ project: 'own' })).retention).toBeNull();
  });
});
