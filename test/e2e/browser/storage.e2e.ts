import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from '../../support/e2e.js';
import { root } from '../../support/machine.js';

test('Storage: what takes the space, what can go, damage found and named, and a backing store', async ({ page, machine }) => {
  const dir = machine.path('work', 'p.stemma');
  expect((await machine.run('init', dir)).code).toBe(0);
  expect((await machine.run('import', join(root, 'resources/sample'), '--project', dir)).code).toBe(0);
  const { url } = await machine.web(dir);
  await page.goto(url);
  await page.getByRole('button', { name: /^stored / }).click();

  const space = page.getByRole('region', { name: 'Space', exact: true });
  await expect(space.getByRole('heading')).toContainText(/on disk for .*B of content/);
  await expect(space.getByRole('listitem').filter({ hasText: 'histories' })).toContainText('%');

  const give = page.getByRole('region', { name: 'Give space back' });
  await give.getByRole('button', { name: 'See what could go' }).click();
  await expect(give).toContainText(/Nothing to remove: \d+ reached/);

  const check = page.getByRole('region', { name: 'Check', exact: true });
  await check.getByRole('button', { name: 'Check everything' }).click();
  await expect(check).toContainText('All of it is sound');

  const stores = page.getByRole('region', { name: 'Backing stores' });
  await stores.getByRole('button', { name: 'Add a backing store' }).click();
  await stores.getByRole('textbox', { name: 'Name' }).fill('beside');
  const copies = machine.path('copies');
  await stores.getByRole('textbox', { name: 'Folder' }).fill(copies);
  await stores.getByRole('combobox', { name: 'Takes' }).selectOption('all');
  await stores.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(stores.getByRole('list', { name: 'Backing stores' })).toContainText('everything that stays');
  await stores.getByRole('button', { name: 'Copy now what waits' }).click();
  await expect(stores.getByRole('list', { name: 'Backing stores' })).toContainText(/holds [1-9]\d* objects?/);
  expect(readdirSync(copies, { recursive: true }).length).toBeGreaterThan(1);
  const asked = page.getByRole('dialog', { name: 'Remove beside?' });
  const remove = stores.getByRole('button', { name: 'Remove beside' });
  await remove.click();
  await expect(asked).toContainText(/What it holds stays where it is: \d+ objects?/);
  await asked.getByRole('button', { name: 'Keep' }).click();
  await expect(remove).toBeFocused();
  await remove.click();
  await asked.getByRole('button', { name: 'Remove' }).click();
  await expect(stores).toContainText('None yet');

  // One object's bytes, as a bad disk would have them.
  const db = new Database(join(dir, 'stemma.db'));
  db.function('stemmaSum', { varargs: true }, () => 0);
  const { no, hash } = db
    .prepare("SELECT no, lower(hex(hash)) AS hash FROM artifact WHERE data IS NOT NULL AND contentType = 'application/jsonl'")
    .get() as {
    no: number;
    hash: string;
  };
  db.prepare('UPDATE artifact SET data = zeroblob(length(data)) WHERE no = ?').run(no);
  db.close();
  await check.getByRole('button', { name: 'Check everything' }).click();
  await expect(check.getByRole('list', { name: 'Problems' })).toContainText(`blake3:${hash}`);
  await check.getByRole('button', { name: 'Repair' }).click();
  await expect(check.getByRole('list', { name: 'Problems' })).toContainText('Made sound again.');
  // What is asked again is answered again.
  await check.getByRole('button', { name: 'Check everything' }).click();
  await expect(check).toContainText('All of it is sound');

  await give.getByRole('button', { name: 'Drop the caches' }).click();
  await expect(give).toContainText(/B of caches dropped/);
  await give.getByRole('button', { name: 'Pack closer' }).click();
  await expect(give).toContainText(/objects? looked at: .* became|packed as closely/);
});
