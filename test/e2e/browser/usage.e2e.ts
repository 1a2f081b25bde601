import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
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

test('[N1, N5, N6] window, command line, HTTP and exported page show the same tokens and cost', async ({ page, machine }) => {
  const dir = machine.path('numbers.stemma');
  expect((await machine.ask('call', 'project.create', '--input', JSON.stringify({ dir }))).code).toBe(0);
  expect((await machine.ask('import', join(root, 'test/fixtures/usage/two-models.jsonl'), '--project', dir)).code).toBe(0);
  const { url, origin, bearer } = await machine.web(dir);
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', 'stemma-project': encodeURIComponent(dir) };
  const http = async (procedure: string, input: unknown) =>
    await (await fetch(`${origin}/api/${procedure}`, { method: 'POST', headers, body: JSON.stringify(input) })).json();
  const { rows } = await http('context/graph', { offset: 0, limit: 1 });
  const id: string = rows[0].commit.id;

  // HTTP and the command line.
  const { totals } = await http('usage/sessions', { groupBy: null });
  const context = await http('usage/context', { id });
  const { calls } = await http('usage/calls', { id });
  expect(calls).toHaveLength(totals.calls);
  const cost = calls.reduce((sum: number, call: { cost: { amount: number } | null }) => sum + (call.cost?.amount ?? 0), 0);
  expect(cost).toBeCloseTo(totals.cost.amount, 9);
  expect(calls.at(-1).window).toBe(context.counted);
  const listed = JSON.parse((await machine.ask('usage', '--json', '--project', dir)).out);
  expect(listed.totals).toEqual(totals);
  const counted = context.counted.toLocaleString('en-US');
  const price = `≥ $${totals.cost.amount.toFixed(2)}`;
  expect((await machine.ask('usage', '--project', dir)).out).toContain(price);
  expect((await machine.ask('show', id, '--project', dir)).out).toContain(`${counted} tokens counted`);

  // The exported page.
  const file = machine.path('work', 'numbers.html');
  expect((await machine.ask('export', id, '-o', file, '--stop', 'root', '--project', dir)).code).toBe(0);
  await page.goto(pathToFileURL(file).href);
  await expect(page.locator('body')).toContainText(counted);

  // The window: the list of sessions, the inspector and the calls.
  await page.goto(url);
  await place(page, 'Sessions').click();
  await expect(page.getByRole('treegrid', { name: 'Sessions' })).toContainText(price);
  await place(page, 'Chain').click();
  await page.getByRole('listbox', { name: 'Commits, newest first' }).getByRole('option').first().click();
  await expect(page.getByRole('region', { name: 'Inspector', exact: true })).toContainText(`${counted} counted`);
  await place(page, 'Calls').click();
  const view = page.getByRole('region', { name: 'Requests' });
  await expect(page.getByRole('note', { name: 'Cost of this branch' })).toContainText(`${price} at API prices of ${totals.cost.priceDate}`);
  await expect(view.getByRole('complementary', { name: 'Call' })).toContainText(`${counted} counted`);

  // The replay: the last step, and the first prompt, which no call has seen yet.
  await place(page, 'Replay').click();
  const atStep = page.getByRole('region', { name: 'Context window' });
  await expect(atStep).toContainText(`${counted} counted`);
  await page.getByRole('slider', { name: 'Moment of the replay' }).press('Home');
  await expect(atStep).toContainText('1 entry');
  await expect(atStep).not.toContainText('counted');
});
