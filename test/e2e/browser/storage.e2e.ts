import { closeSync, openSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from '../../support/e2e.js';
import { giveProject } from '../../support/prepared.js';
import { openSettings } from '../../support/window.js';

/** Writes zeros over the bytes of one object of a session, in its pack or in its row. Returns its hash. */
function damageObject(dir: string): string {
  const db = new Database(join(dir, 'stemma.db'));
  db.function('stemmaSum', { varargs: true }, () => 0);
  const found = db
    .prepare(
      `SELECT a.no, lower(hex(a.hash)) AS hash, p.file, a.packStart, a.storedSize FROM artifact a LEFT JOIN pack p ON p.no = a.pack
        WHERE (a.pack IS NOT NULL OR a.data IS NOT NULL) AND a.contentType = 'application/jsonl'`,
    )
    .get() as { no: number; hash: string; file: string | null; packStart: number; storedSize: number };
  if (found.file === null) db.prepare('UPDATE artifact SET data = zeroblob(length(data)) WHERE no = ?').run(found.no);
  else {
    const pack = openSync(join(dir, 'objects', found.file), 'r+');
    writeSync(pack, Buffer.alloc(found.storedSize), 0, found.storedSize, found.packStart);
    closeSync(pack);
  }
  db.close();
  return found.hash;
}

test('Storage: space, cleanup, a check that finds damage, and a replica', { tag: '@long' }, async ({ page, machine }) => {
  const dir = machine.path('work', 'p.stemma');
  await giveProject(machine, 'Histories', dir);
  const { url } = await machine.web(dir);
  await page.goto(url);
  await page.getByRole('button', { name: /^stored / }).click();

  const space = page.getByRole('region', { name: 'Space', exact: true });
  await expect(space.getByRole('heading')).toContainText(/on disk for .*B of content/);
  await expect(space.getByRole('listitem').filter({ hasText: 'histories' })).toContainText('%');

  const give = page.getByRole('region', { name: 'Free space' });
  await give.getByRole('button', { name: 'Find unreachable objects' }).click();
  await expect(give).toContainText(/No unreachable objects: \d+ reachable/);

  const check = page.getByRole('region', { name: 'Check', exact: true });
  await check.getByRole('button', { name: 'Check everything' }).click();
  await expect(check).toContainText('No problems found');

  // Summaries are filled only where a person allows it. Every door sees that.
  await openSettings(page, 'Summaries');
  const summaries = page.getByRole('region', { name: 'Summaries' });
  await expect(summaries).toContainText(/\d+ commits? without a summary, 0 written/);
  const fill = summaries.getByRole('checkbox', { name: 'Fill missing summaries while idle' });
  await fill.click();
  await expect(fill).toBeChecked();
  expect(JSON.parse((await machine.ask('call', 'context.summarizer', '--project', dir, '--input', '{}')).out)).toMatchObject({ enabled: true });
  await fill.click();
  await expect(fill).not.toBeChecked();

  // A person's own prices come first. A negative one is refused beside its field.
  await openSettings(page, 'Prices');
  const prices = page.getByRole('region', { name: 'Prices', exact: true });
  await expect(prices.getByRole('row', { name: /^claude/ }).first()).toContainText('built in');
  await prices.getByRole('button', { name: 'Add prices…' }).click();
  const own = page.getByRole('dialog', { name: 'Prices of a model' });
  await own.getByLabel('Model (required)').fill('claude-*');
  await own.getByLabel('From (required)').fill('2020-01-01');
  await own.getByLabel('Input (required)').fill('-1');
  await own.getByLabel('Output (required)').fill('2');
  await own.getByRole('button', { name: 'Save' }).click();
  await expect(own).toContainText(/negative|at least 0|>= ?0/);
  await own.getByLabel('Input (required)').fill('1');
  await own.getByRole('button', { name: 'Save' }).click();
  await expect(prices.getByRole('list', { name: 'Your own prices' })).toContainText('claude-* from 2020-01-01: $1 in, $2 out');
  await expect(prices.getByRole('row', { name: /^claude/ }).first()).toContainText('your own');
  await expect(prices).toContainText('GPT-5.5');
  await expect(prices).not.toContainText('(?!');

  await openSettings(page, 'Replicas');
  const stores = page.getByRole('region', { name: 'Replicas' });
  await stores.getByRole('button', { name: 'Add a replica' }).click();
  await stores.getByRole('textbox', { name: 'Name' }).fill('beside');
  const copies = machine.path('copies');
  await stores.getByRole('textbox', { name: 'Folder' }).fill(copies);
  await stores.getByRole('combobox', { name: 'Copies' }).selectOption('all');
  await stores.getByRole('button', { name: 'Add replica', exact: true }).click();
  await expect(stores.getByRole('list', { name: 'Replicas' })).toContainText('every object');
  await stores.getByRole('button', { name: 'Copy now' }).click();
  await expect(stores.getByRole('list', { name: 'Replicas' })).toContainText(/contains [1-9]\d* objects?/);
  expect(readdirSync(copies, { recursive: true }).length).toBeGreaterThan(1);
  const asked = page.getByRole('dialog', { name: 'Remove beside?' });
  const remove = stores.getByRole('button', { name: 'Remove beside' });
  await remove.click();
  await expect(asked).toContainText(/Its copies of \d+ objects? stay there/);
  await asked.getByRole('button', { name: 'Keep' }).click();
  await expect(remove).toBeFocused();
  await remove.click();
  await asked.getByRole('button', { name: 'Remove' }).click();
  await expect(stores).toContainText('No replicas');

  await openSettings(page, 'Storage');
  // Damage the bytes of one object, as a bad disk does.
  const hash = damageObject(dir);
  await check.getByRole('button', { name: 'Check everything' }).click();
  await expect(check.getByRole('list', { name: 'Problems' })).toContainText(`blake3:${hash}`);
  await check.getByRole('button', { name: 'Repair' }).click();
  // No copy of it is anywhere else: it is marked as lost, and what it was part of is named.
  await expect(check.getByRole('list', { name: 'Problems' })).toContainText('it is lost, and with it the content of ctx-');
  await check.getByRole('button', { name: 'Check everything' }).click();
  await expect(check).toContainText(/2 problems in \d+ artifacts/);

  await give.getByRole('button', { name: 'Drop caches' }).click();
  await expect(give).toContainText(/B of caches dropped/);
  await give.getByRole('button', { name: 'Repack objects' }).click();
  await expect(give).toContainText(/objects? repacked: .* after|already packed/);
});

test('[W5] the content of deleted sessions is freed after a preview, and then undo is refused', { tag: '@long' }, async ({ page, machine }) => {
  const dir = machine.path('work', 'p.stemma');
  const call = (procedure: string, input: object) => machine.ask('call', procedure, '--project', dir, '--input', JSON.stringify(input));
  await giveProject(machine, 'Histories', dir);
  const sessionId = '9dec3024-c217-4237-8dba-1d670b433c80';
  expect((await call('session.delete', { sessionId })).code).toBe(0);
  const { url } = await machine.web(dir);
  await page.goto(url);
  await page.getByRole('button', { name: /^stored / }).click();
  const give = page.getByRole('region', { name: 'Free space' });
  await give.getByRole('button', { name: 'Find unreachable objects' }).click();
  await expect(give).toContainText('No unreachable objects');
  await give.getByRole('checkbox', { name: 'Also free deleted sessions and branches' }).check();
  await expect(give).toContainText('This includes the content of 1 deleted session.');
  await give.getByRole('button', { name: /^Remove \d+ objects$/ }).click();
  await expect(give).toContainText(/\d+ objects removed, .*B freed/);
  const refused = await call('session.delete', { sessionId, deleted: false });
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain('its content was freed');
  await page.getByRole('region', { name: 'Check', exact: true }).getByRole('button', { name: 'Check everything' }).click();
  await expect(page.getByRole('region', { name: 'Check', exact: true })).toContainText('No problems found');
});
