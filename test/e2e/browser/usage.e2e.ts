import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';
import { expect, test } from '../../support/e2e.js';
import { root } from '../../support/machine.js';
import { giveProject } from '../../support/prepared.js';
import { complaints, entries, importAll, openContext, place } from '../../support/window.js';

test('[N10] a compaction shows what it lost, and each loss leads to its entry', { tag: '@long' }, async ({ page, machine }) => {
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
  await expect(page.getByRole('note', { name: 'Sums of the listed sessions' })).toContainText(/1 session.*3 calls.*\$0\.0\d/);

  // What the last month cost by repository is one click away.
  await page.getByRole('button', { name: 'Last month by repository' }).click();
  await expect(page.getByRole('radio', { name: '30 days' })).toBeChecked();

  // Usage: the sums, the budget, a bar, a row with its session, and the calls of the row.
  await page.getByRole('radio', { name: 'All', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Cost' })).toContainText(/\$0\.0\d/);
  await expect(page.getByRole('note', { name: 'Over budget' })).toContainText('1 day over the budget of $0.0010');
  const table = page.getByRole('table', { name: 'Usage by repository' });
  await expect(table).toContainText('Total');
  await table.getByRole('button', { name: /^Sessions of / }).click();
  await expect(table.getByRole('button', { name: 'Fix the login' })).toBeVisible();
  await page.getByRole('radio', { name: 'Model' }).click();
  const bar = page
    .getByRole('region', { name: 'Chart' })
    .getByRole('button', { name: /: (≥ )?\$0\.0\d/ })
    .first();
  // The parts of a bar fill it.
  const stack = bar.locator('.usage-stack');
  const filled = await stack.locator('i').evaluateAll((parts) => parts.reduce((sum, part) => sum + part.getBoundingClientRect().height, 0));
  expect(filled).toBeGreaterThan(0);
  expect(Math.abs(filled - ((await stack.boundingBox())?.height ?? 0))).toBeLessThan(1);
  await bar.click();
  await expect(bar).toHaveAttribute('aria-pressed', 'true');
  await expect(page.getByRole('complementary').getByRole('button', { name: 'Fix the login' }).first()).toBeVisible();
  await page.getByRole('table', { name: 'Usage by model' }).getByTitle('List 3 calls').first().click();
  const result = page.getByRole('region', { name: 'Result' });
  await expect(result).toContainText('3 rows');
  await page.goBack();
  await page.getByTitle('List the calls with a price').click();
  await expect(result).toContainText('3 rows');

  // SQL: a statement that writes is refused, and a result is drawn.
  const statement = page.getByRole('textbox', { name: 'SQL statement' });
  await statement.fill('DELETE FROM calls');
  await statement.press('Control+Enter');
  await expect(page.getByRole('alert')).toContainText('The statement has no answer');
  await statement.fill('SELECT model, count(*) AS n FROM ca');
  await statement.press('Tab');
  await expect(statement).toHaveValue('SELECT model, count(*) AS n FROM calls ');
  await statement.pressSequentially('GROUP BY 1');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await result.getByRole('radio', { name: 'Chart' }).click();
  await expect(result.getByRole('figure', { name: 'n by model' })).toBeVisible();
  await result.getByRole('textbox', { name: 'Path of the new file' }).fill(machine.path('calls.csv'));
  await result.getByRole('button', { name: 'Write file' }).click();
  await page.getByRole('button', { name: 'Allow and write' }).click();
  await expect(result).toContainText('Wrote 1 row');
  expect(readFileSync(machine.path('calls.csv'), 'utf8')).toMatch(/^model,n\r?\n/);

  // Findings: the rules with their numbers.
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Findings' }).click();
  const rules = page.getByRole('navigation', { name: 'Rules' });
  await rules.getByRole('button', { name: /^Edit without/ }).click();
  await expect(page.getByRole('region', { name: 'Findings' })).toContainText('Severity:');
  expect(met).toEqual([]);
});

test('Usage says which commits are not counted, because another program writes', async ({ page, machine }) => {
  const dir = machine.path('work', 'p.stemma');
  await giveProject(machine, 'Histories', dir);
  for (const name of readdirSync(dir)) if (name.startsWith('derived-')) rmSync(join(dir, name));
  const other = new Database(join(dir, 'stemma.db'));
  other.exec('BEGIN IMMEDIATE');
  const { url, origin } = await machine.web(dir);
  await page.goto(url);
  await page.goto(`${origin}/#/usage?project=${encodeURIComponent(dir)}&range=all`);
  const notice = page.getByRole('status').filter({ hasText: /\d commits not counted yet: another program was writing/ });
  await expect(notice).toBeVisible();
  other.exec('COMMIT');
  other.close();
  await notice.getByRole('button', { name: 'Count again' }).click();
  await expect(page.getByRole('region', { name: 'Chart' })).toBeVisible();
  await expect(notice).toBeHidden();
});

test('[N1, N5, N6] [V2] all doors show the same tokens and cost, and a pack checks itself', { tag: '@long' }, async ({ page, machine }) => {
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

  // The page in a pack of evidence finds that everything holds, and one changed bit.
  const pack = machine.path('work', 'evidence.zip');
  expect((await machine.ask('evidence', id, '-o', pack, '--project', dir)).code).toBe(0);
  const bytes = readFileSync(pack);
  const checker = machine.path('work', 'verify.html');
  // The files in a pack are not compressed.
  writeFileSync(checker, bytes.subarray(bytes.lastIndexOf('<!doctype html>'), bytes.lastIndexOf('</html>') + '</html>'.length));
  await page.goto(pathToFileURL(checker).href);
  await page.getByLabel('Pack of evidence').setInputFiles(pack);
  await expect(page.getByRole('heading', { name: 'Everything holds.' })).toBeVisible();
  await expect(page.locator('#details')).toContainText(/Merkle root: [0-9a-f]{64}/);
  const object = bytes.indexOf('objects/') + 200;
  bytes[object] = (bytes[object] ?? 0) ^ 1;
  await page.getByLabel('Pack of evidence').setInputFiles({ name: 'changed.zip', mimeType: 'application/zip', buffer: bytes });
  await expect(page.getByRole('heading', { name: 'This pack was changed.' })).toBeVisible();

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
