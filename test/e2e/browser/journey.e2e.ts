import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from '../../support/e2e.js';
import { root } from '../../support/machine.js';
import {
  chooseProject,
  commits,
  complaints,
  confirmWrite,
  entries,
  importAll,
  openContext,
  place,
  sessionRow,
  sheet,
  shownKeys,
} from '../../support/window.js';

test('open, browse, read, fork in mid-turn, export, and import the same entries again', async ({ page, machine }) => {
  const met = complaints(page);
  machine.giveHistory();
  const { url } = await machine.web();
  await page.goto(url);

  // Open: sessions on this machine are listed and imported with one button.
  await expect(sessionRow(page, /larder/).first()).toBeVisible();
  const welcome = page.getByRole('region', { name: 'First start' });
  await expect(welcome).toContainText('Stemma reads the histories that coding agents leave on this machine');
  await expect(welcome.getByRole('listitem').filter({ hasText: machine.claude })).toHaveText(/^Claude Code .* \d+ sessions$/);
  await expect(welcome.getByRole('button')).toHaveText([/^Import \d+ new$/]);
  // The words of the list are explained by keyboard, and so by touch, too.
  await page.getByRole('button', { name: 'What the words mean' }).press('Enter');
  for (const word of ['Turn', 'Peak context', 'Errors', 'Counted', '≈ (estimate)'])
    await expect(sheet(page).getByRole('term').filter({ hasText: word })).toBeVisible();
  await page.keyboard.press('Escape');
  await importAll(page);
  await expect(welcome).toHaveCount(0);

  // Browse: branches, a compaction, a subagent.
  await expect(commits(page).first()).toBeVisible();
  await expect(page.getByRole('option', { name: /compaction/ })).toBeVisible();
  await expect(page.getByRole('option', { name: /subagent/ })).toBeVisible();
  const fixed = page.getByRole('option', { name: /^Fix it, please\. Test first\./ });
  await expect(fixed).toBeVisible();

  // Read.
  await openContext(page, fixed);
  await expect(entries(page).getByText('Fix it, please. Test first.').first()).toBeVisible();
  const before = await shownKeys(page);
  expect(before.length).toBeGreaterThan(6);

  // Fork in mid-turn: after its first tool call with a result, which is not the last entry of the turn.
  await entries(page).evaluate((list) => list.scrollTo({ top: list.scrollHeight }));
  const cut = before.at(-4) ?? '';
  const block = page.locator(`[data-entry="${cut}"]`);
  await block.hover();
  await block.getByRole('button', { name: 'Fork from here' }).click();
  await expect(sheet(page)).toContainText('Kept');
  const keepResults = sheet(page).getByRole('button', { name: 'Keep the results' });
  if (await keepResults.isVisible()) await keepResults.click();
  await sheet(page).getByRole('textbox', { name: 'Name' }).fill('Another way to fix it');
  await sheet(page).getByRole('button', { name: 'Create fork' }).click();
  await expect(sheet(page)).toContainText('Fork created');
  await sheet(page).getByRole('button', { name: 'Open fork' }).click();
  await expect(page).not.toHaveURL(/entry=/);
  const forked = await shownKeys(page);
  expect(forked).toEqual(before.slice(0, before.indexOf(cut) + 1));

  // The chain shows the fork.
  await place(page, 'Chain').click();
  await expect(page.getByRole('option', { name: /^Another way to fix it.*fork made here/ })).toBeVisible();

  // From an ancestor, the context is materialized as an object that its reference names.
  const size = page.viewportSize() ?? { width: 1280, height: 720 };
  const materializeFrom = async (index: number): Promise<string> => {
    // The long menu fits a low window, and scrolls there.
    await page.setViewportSize({ width: 1024, height: 480 });
    await fixed.click({ button: 'right' });
    const menu = await page.getByRole('menu').boundingBox();
    expect(menu && menu.y >= 0 && menu.y + menu.height <= 480).toBe(true);
    await page.getByRole('menuitem', { name: 'Materialize from here…' }).click();
    await sheet(page).getByRole('combobox', { name: 'From' }).selectOption({ index });
    await sheet(page).getByRole('button', { name: 'Materialize' }).click();
    const made = page.getByRole('status').filter({ has: page.getByRole('button', { name: 'Copy the reference' }) });
    await expect(made).toContainText(/\d+ messages? · blake3:[0-9a-f]{64}/);
    // The long reference breaks, and its button does not cover it.
    expect(
      await made
        .locator('span')
        .first()
        .evaluate((words) => words.scrollWidth - words.clientWidth),
    ).toBe(0);
    const text = (await made.textContent()) ?? '';
    await made.getByRole('button', { name: 'Dismiss' }).click();
    await page.setViewportSize(size);
    return text;
  };
  // The second choice is the full history, the third one this commit, and the fourth one its parent.
  const [all, own, withParent] = [await materializeFrom(1), await materializeFrom(2), await materializeFrom(3)];
  expect(own).not.toBe(withParent);
  expect([all, own, withParent].map((text) => Number.parseInt(text, 10)).toSorted((a, b) => a - b)).toEqual(
    [own, withParent, all].map((text) => Number.parseInt(text, 10)),
  );
  await page.getByRole('option', { name: /^Another way to fix it/ }).click();

  // Export.
  await place(page, 'Context').click();
  await page.getByRole('button', { name: 'Export', exact: true }).first().click();
  const file = machine.path('forked.jsonl');
  await sheet(page).getByRole('textbox', { name: 'Path of the new file' }).fill(file);
  await sheet(page).getByRole('button', { name: 'Write file' }).click();
  await confirmWrite(page, file);
  await expect(sheet(page).getByText(/of Claude Code.*as recorded/)).toBeVisible();
  expect(existsSync(file)).toBe(true);
  const written = readFileSync(file, 'utf8');

  // An existing file is not overwritten.
  await sheet(page).getByRole('button', { name: 'Write file' }).click();
  await expect(sheet(page).getByRole('alert')).toContainText('Nothing was exported');
  expect(readFileSync(file, 'utf8')).toBe(written);

  // As spans, it goes to a collector.
  const received: string[] = [];
  const collector = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (part) => received.push(part));
    request.on('end', () => response.end('{}'));
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  await sheet(page)
    .getByRole('radio', { name: /OpenTelemetry/ })
    .check();
  await sheet(page).getByRole('textbox', { name: 'Address of the collector' }).fill(`http://127.0.0.1:${port}/v1/traces`);
  await sheet(page).getByRole('button', { name: 'Send to collector' }).click();
  await expect(sheet(page).getByText(`Sent to http://127.0.0.1:${port}/v1/traces.`)).toBeVisible();
  collector.close();
  expect(received.join('')).toContain('resourceSpans');

  // The sheet lists what redaction replaces before anything is written.
  await sheet(page)
    .getByRole('checkbox', { name: /Replace known patterns/ })
    .check();
  await expect(sheet(page).getByRole('list', { name: 'Replacements' }).or(sheet(page).getByText('No known pattern was found'))).toBeVisible();
  await page.keyboard.press('Escape');

  // Import the export into another project and find the same entries.
  await chooseProject(page, 'New project…');
  await page.getByRole('textbox', { name: 'Folder of the new project' }).fill(machine.path('again'));
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByText('again', { exact: true }).first()).toBeVisible();
  await chooseProject(page, 'Open or import a path…');
  await page.getByRole('textbox', { name: 'Path to import or open' }).fill(file);
  await sheet(page).getByRole('button', { name: 'Open', exact: true }).click();
  await expect(commits(page).first()).toBeVisible();
  await openContext(page, commits(page).first());
  expect(await shownKeys(page)).toEqual(forked);

  expect(met).toEqual([]);
});

test('resume in Claude Code writes the session and shows the command', { tag: '@long' }, async ({ page, machine }) => {
  machine.giveHistory();
  const { url } = await machine.web();
  await page.goto(url);
  await importAll(page);
  await page.getByRole('option', { name: /^Fix it, please/ }).click();
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await sheet(page).getByRole('button', { name: 'Write session' }).click();
  await confirmWrite(page, machine.claude);
  await expect(sheet(page)).toContainText('claude --resume');
  await expect(sheet(page)).toContainText(machine.claude);
});

test('a machine without sessions offers the sample project', { tag: '@long' }, async ({ page, machine }) => {
  const { url } = await machine.web();
  await page.goto(url);
  await expect(page.getByRole('region', { name: 'First start' }).getByRole('listitem').first()).toBeVisible();
  await page.getByRole('button', { name: 'Open the sample project' }).click();
  await expect(commits(page).first()).toBeVisible();
  await expect.poll(() => commits(page).count()).toBeGreaterThan(8);
  // The sample opens on its story: a prompt that was edited, beside the turn that it edits.
  await expect(commits(page).and(page.locator('[aria-selected="true"]'))).toHaveAccessibleName(/^Edited: Keep the date/);
});

test('a place that is chosen while the window starts stays', { tag: '@long' }, async ({ page, machine }) => {
  const dir = machine.path('numbers.stemma');
  await machine.ask('init', dir);
  await machine.ask('import', join(root, 'test/fixtures/usage/two-models.jsonl'), '--project', dir);
  const { url } = await machine.web(dir);
  // Answers are late, as on a slow machine.
  await page.routeWebSocket(/\/rpc/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((message) => void setTimeout(() => socket.send(message), 500));
  });
  await page.goto(url);
  await place(page, 'Sessions').click();
  await expect(page.getByRole('treegrid', { name: 'Sessions' })).toContainText('3.52');
});

test('paths on the command line open a project and import a session', { tag: '@long' }, async ({ page, machine }) => {
  const place = machine.giveHistory();
  const dir = machine.path('named.stemma');
  expect((await machine.ask('init', dir)).code).toBe(0);
  const { url } = await machine.web(dir, `${place}/4b9013ed-af4c-4d72-987c-ac3ad36a4dba.jsonl`);
  await page.goto(url);
  await expect(commits(page).first()).toBeVisible();
  await expect(page).toHaveURL(/named\.stemma/);
});

test('a person who opens another view while an import runs stays there, and is offered what came', async ({ page, machine }) => {
  const dir = machine.path('named.stemma');
  expect((await machine.ask('init', dir)).code).toBe(0);
  const { url } = await machine.web(dir);
  await page.goto(url);
  const file = machine.path('torn.jsonl');
  writeFileSync(file, `${readFileSync(join(root, 'test/fixtures/usage/two-models.jsonl'), 'utf8').trimEnd()}\n{"uuid":torn}\n`);
  // The import waits until the other program has written.
  const other = new Database(join(dir, 'stemma.db'));
  other.exec('BEGIN IMMEDIATE');
  await chooseProject(page, 'Open or import a path…');
  await page.getByRole('textbox', { name: 'Path to import or open' }).fill(file);
  await sheet(page).getByRole('button', { name: 'Open', exact: true }).click();
  await place(page, 'Usage').click();
  await expect(page).toHaveURL(/#\/usage/);
  other.exec('COMMIT');
  other.close();
  const notice = page.getByRole('status').filter({ hasText: 'Imported. 1 line could not be read' });
  await notice.getByRole('button', { name: 'Show' }).click();
  await expect(page).toHaveURL(/#\/chain/);
  await expect(commits(page).first()).toBeVisible();
});

test('an import of files without a history says that nothing was imported, and why', { tag: '@long' }, async ({ page, machine, shared }) => {
  await shared.open(page, 'Histories');
  const folder = machine.path('notes');
  mkdirSync(folder);
  writeFileSync(join(folder, 'cut.json'), '{"messages": [');
  await chooseProject(page, 'Open or import a path…');
  await sheet(page).getByRole('textbox').fill(folder);
  await page.keyboard.press('Enter');
  await expect(sheet(page)).toContainText('Nothing was imported');
  await expect(sheet(page)).toContainText('its JSON ends too early');
});
