import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../../support/e2e.js';
import { root } from '../../support/machine.js';
import { complaints, entries, importAll, openContext, place } from '../../support/window.js';

test('[N10] a compaction shows what it lost, and each loss leads to its entry', async ({ page, machine }) => {
  const met = complaints(page);
  const folder = join(machine.claude, 'projects', '-repo');
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, 'test/fixtures/usage/compacted.jsonl'), join(folder, 's.jsonl'));
  mkdirSync(machine.path('stemma'), { recursive: true });
  writeFileSync(machine.path('stemma', 'usage.json'), '{"budgets":{"session":0.001,"day":0.001}}');
  const { url } = await machine.web();
  await page.goto(url);
  await importAll(page);

  await openContext(page, page.getByRole('option', { name: /go on/ }));
  const loss = page.getByRole('region', { name: 'Lost in this compaction' }).first();
  await expect(loss).toContainText('1,300 → 400 tokens, counted');
  await loss.getByRole('button', { name: /Not mentioned: 1 file/ }).click();
  await loss.getByRole('button', { name: /login\.ts: read/ }).click();
  await expect(entries(page)).toContainText('Fix the login');

  // The session and its day cost more than their budgets.
  await place(page, 'Sessions').click();
  const over = page.getByRole('list', { name: 'Over budget' });
  await expect(over).toContainText(/Over budget: .* cost (≥ )?\$0\.0\d/);
  await expect(over.getByRole('listitem')).toHaveCount(2);
  expect(met).toEqual([]);
});
