import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from '../../support/e2e.js';
import { giveProject } from '../../support/prepared.js';

test('[T20] a damaged commit is marked in Chain, its details and Context', { tag: '@long' }, async ({ page, machine }) => {
  const dir = machine.path('work', 'p.stemma');
  await giveProject(machine, 'Histories', dir);
  const tips = JSON.parse((await machine.ask('call', 'context.tips', '--project', dir)).out) as { id: string }[];
  const id = tips[0]?.id ?? '';
  // A changed byte of a row, as a bad disk leaves it.
  const db = new Database(join(dir, 'stemma.db'));
  db.prepare("UPDATE commits SET summary = 'written by nobody' WHERE id = ?").run(id);
  db.close();
  const { url, origin } = await machine.web(dir);
  await page.goto(url);
  const at = (view: string): string => `${origin}/#/${view}?project=${encodeURIComponent(dir)}&commit=${id}`;
  const notice = page.getByRole('region', { name: 'Damaged commit' });
  const shot = async (name: string): Promise<void> => {
    const folder = process.env.STEMMA_SHOTS;
    if (folder)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
      }
  };

  await page.goto(at('chain'));
  const row = page.getByRole('option', { name: /Title not shown.*damaged/ });
  await expect(row).toBeVisible();
  await expect(notice).toContainText('A repair restores the record');
  await expect(page.getByText('written by nobody')).toHaveCount(0);
  const records = page.getByRole('region', { name: 'Damaged records' });
  await expect(records).toContainText('Some records of this project are damaged: 1 row of commits.');
  await shot('chain');

  await page.goto(at('context'));
  await expect(page.getByRole('region', { name: 'Context', exact: true }).getByRole('region', { name: 'Damaged commit' })).toBeVisible();
  await shot('context');
  await page.setViewportSize({ width: 760, height: 700 });
  await shot('context-760');

  await notice.first().getByRole('button', { name: 'Check and repair' }).click();
  const check = page.getByRole('region', { name: 'Check', exact: true });
  await check.getByRole('button', { name: 'Check everything' }).click();
  await expect(check.getByRole('list', { name: 'Problems' })).toContainText(id);
  await check.getByRole('button', { name: 'Repair' }).click();
  await expect(check.getByRole('list', { name: 'Problems' })).toContainText('Repaired.');
  await expect(records).toHaveCount(0);
  await page.goto(at('chain'));
  await expect(row).toHaveCount(0);
  await expect(notice).toHaveCount(0);
  await expect(records).toHaveCount(0);
});

test('a commit without its content says so in one line, and other rows keep their facts', { tag: '@long' }, async ({ page, machine }) => {
  const dir = machine.path('work', 'p.stemma');
  await giveProject(machine, 'Histories', dir);
  const tips = JSON.parse((await machine.ask('call', 'context.tips', '--project', dir)).out) as { id: string; artifact: string }[];
  const id = tips[0]?.id ?? '';
  const db = new Database(join(dir, 'stemma.db'));
  db.function('stemmaSum', { varargs: true }, () => 0);
  const lost = "data = NULL, pack = NULL, packStart = NULL, gone = 'lost'";
  db.prepare(`UPDATE artifact SET ${lost} WHERE no = (SELECT artifact FROM commits WHERE id = ?)`).run(id);
  db.close();
  const derived = new Database(join(dir, readdirSync(dir).find((name) => /^derived-\d+\.db$/.test(name)) ?? 'derived'));
  derived.exec('DELETE FROM outline');
  derived.close();
  const { url, origin } = await machine.web(dir);
  await page.goto(url);
  await page.goto(`${origin}/#/chain?project=${encodeURIComponent(dir)}&commit=${id}`);
  const commit = page.getByRole('region', { name: 'Commit', exact: true });
  await expect(commit.getByRole('alert')).toContainText('This context could not be read: blake3:');
  await expect(commit.locator('.placeholder:visible')).toHaveCount(0);
  await expect(page.getByRole('option', { name: /^Fix it, please/ })).toContainText('$0.0');
  await commit.getByRole('button', { name: 'Check and repair' }).click();
  await expect(page.getByRole('region', { name: 'Check', exact: true })).toBeVisible();
});
