import type { Locator } from '@playwright/test';
import { expect, test } from '../../support/e2e.js';
import { findInFewClicks, giveRunnableSession, runEditedPrompt } from '../../support/journeys.js';
import { messageEvents, modelServer, stream } from '../../support/model-server.js';
import { agentsWindow, commits, entries, highlightedWords, importAll, openContext, place, settledCount, sheet } from '../../support/window.js';

test('[W44, W71] four clicks run an edited prompt, and one compares it with its original', async ({ page, machine }) => {
  const given = giveRunnableSession(machine);
  machine.env.DISPLAY = ':99';
  const { url } = await machine.web();
  await page.goto(url);
  await importAll(page);
  await place(page, 'Sessions').click();
  expect(await runEditedPrompt(page, given)).toBeLessThanOrEqual(4);
  // The fork is on the chain beside the original, titled by its change.
  await place(page, 'Chain').click();
  await expect(page.getByRole('option', { name: /^Edited: without/ })).toBeVisible();
  await page.getByRole('option', { name: /^Fix it with a lock/ }).click();
  const forks = page.getByRole('region', { name: 'Forks of this turn' });
  await expect(forks.getByRole('listitem')).toHaveCount(1);
  await forks.getByRole('button', { name: 'Compare' }).click();
  await expect(page.getByRole('heading', { name: 'Compare', level: 1 })).toBeVisible();
});

test('[W5] a branch is archived or deleted, and undo brings it back', { tag: '@long' }, async ({ page, shared }) => {
  await shared.open(page, 'Histories');
  const branch = page.getByRole('option', { name: /^Then say "in June"/ });
  await expect(branch).toBeVisible();
  const count = await settledCount(commits(page));
  for (const item of ['Archive this branch', 'Delete this branch']) {
    await branch.click({ button: 'right' });
    await page.getByRole('menuitem', { name: item }).click();
    await expect(branch).toHaveCount(0);
    // The details of what left the chain close with it.
    await expect(page.getByRole('region', { name: 'Commit', exact: true }).filter({ hasText: 'Then say "in June"' })).toHaveCount(0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect(branch).toBeVisible();
    await expect(commits(page)).toHaveCount(count);
  }
});

test('[W41] a discarded draft comes back with undo', { tag: '@long' }, async ({ page, shared }) => {
  await shared.open(page, 'Histories');
  await openContext(page, page.getByRole('option', { name: /^Fix it, please/ }));
  const block = entries(page).locator('.block', { hasText: 'Fix it, please. Test first.' });
  await block.hover();
  await block.getByRole('button', { name: 'Edit & fork' }).click();
  const field = page.getByRole('textbox', { name: 'Prompt' });
  await field.fill('Fix it, and add a test.');
  await page.getByRole('button', { name: 'Discard' }).click();
  await expect(field).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(field).toHaveValue('Fix it, and add a test.');
});

test('[W43] the palette lists recent sessions, groups hits and highlights the one opened', { tag: '@long' }, async ({ page, shared }) => {
  await shared.open(page, 'Histories');
  await expect(commits(page).first()).toBeVisible();
  await page.keyboard.press('Control+k');
  await expect(sheet(page).getByRole('group').first()).toHaveAccessibleName('Recent sessions');
  await expect(sheet(page).getByRole('group').nth(1)).toHaveAccessibleName(/^Selected: \w/);
  await expect(sheet(page).getByRole('group').first().getByRole('option').first()).toHaveAttribute('aria-selected', 'true');
  await sheet(page).getByRole('combobox').fill('damson midnight');
  const hits = sheet(page).getByRole('group', { name: /^Jam that is gone on its last day · Claude Code/ });
  await expect(hits.getByRole('option').first()).toContainText(/damson/i);
  await sheet(page)
    .getByRole('button', { name: /^Agent/ })
    .click();
  await page.getByRole('menuitemcheckbox', { name: 'Claude Code' }).click();
  await expect(hits.getByRole('option').first()).toContainText(/damson/i);
  await hits.getByRole('option').first().click();
  await expect(page).toHaveURL(/entry=/);
  await expect.poll(() => highlightedWords(page)).toContain('damson');
});

test('[W50, W72] the costliest miss and a compaction’s losses in two clicks, the culprit in one', { tag: '@long' }, async ({ page, shared }) => {
  await shared.open(page, 'Histories');
  await findInFewClicks(page);
});

test('[W66] from no profile to the result of a delegated card in at most 12 clicks', { tag: '@long' }, async ({ page, machine }) => {
  const server = await modelServer((response) => stream(response, messageEvents({ text: 'Two orders are in the queue.' })));
  Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: server.url });
  try {
    const { call } = await agentsWindow(page, machine);
    let clicks = 0;
    const click = async (target: Locator): Promise<void> => {
      clicks += 1;
      await target.click();
    };
    const subpage = (name: string): Locator => page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true });
    await click(place(page, 'Agents'));
    await click(subpage('Profiles'));
    await click(page.getByRole('button', { name: 'New profile' }).first());
    await sheet(page).getByRole('textbox', { name: 'Name (required)' }).fill('Writer');
    await click(sheet(page).getByRole('button', { name: 'Create profile' }));
    await click(subpage('Handovers'));
    await click(page.getByRole('button', { name: 'Hand over' }));
    await click(page.getByRole('menuitem', { name: 'Delegate to an agent…' }));
    await sheet(page).getByRole('textbox', { name: 'Instruction' }).fill('Count the orders');
    await sheet(page).getByRole('textbox', { name: 'What it needs to know' }).fill('The queue holds orders 1 and 2.');
    await sheet(page).getByLabel('Model', { exact: true }).fill('claude-opus-4-5');
    await click(sheet(page).getByRole('button', { name: 'Delegate', exact: true }));
    await expect(page.getByRole('region', { name: 'What the job does' })).toContainText('Two orders are in the queue.');
    expect(clicks).toBeLessThanOrEqual(12);
    const sent = JSON.stringify(server.asked.findLast(({ body }) => 'messages' in body)?.body);
    expect(sent).toContain('Count the orders');
    expect(sent).toContain('The queue holds orders 1 and 2.');
    expect((await call('handover.map', {})).turns).toHaveLength(1);
  } finally {
    server.close();
  }
});
