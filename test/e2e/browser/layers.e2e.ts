import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/e2e.js';
import { complaints, entries, sheet } from '../../support/window.js';

async function barriers(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`);
}

/** The window on an imported history, with one commit selected. */
async function selected(page: Page, machine: { giveHistory(): string; web(): Promise<{ url: string }> }): Promise<void> {
  machine.giveHistory();
  const { url } = await machine.web();
  await page.goto(url);
  await page.getByRole('button', { name: 'Import all' }).click();
  await page.getByRole('option', { name: /^Fix it, please/ }).click();
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`compose: layers, what another process would see, and nothing stored, ${colorScheme}`, async ({ page, machine }) => {
    const met = complaints(page);
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await selected(page, machine);
    await page.getByRole('tab', { name: 'Compose' }).click();
    const layers = page.getByRole('list', { name: 'Layers, in the order in which they are sent' });
    const messages = page.getByRole('region', { name: 'Messages' });
    await expect(layers.getByText('Memory', { exact: true })).toBeVisible();
    await expect(messages.getByText('Not recorded: this history does not hold its system prompt')).toBeVisible();
    expect(await barriers(page), 'as recorded').toEqual([]);

    await page.getByLabel('Process').selectOption('mapreduce-worker');
    await expect(layers.getByText(/Not sent: mapreduce-worker does not get memory/)).toBeVisible();
    await expect(page.getByText(/against the context as recorded/)).toBeVisible();
    await expect(page.getByText('+1', { exact: true })).toBeVisible();
    await expect(messages.getByText('No longer sent: ').first()).toBeAttached();
    expect(await barriers(page), 'as a worker').toEqual([]);

    await page.getByRole('button', { name: 'As recorded' }).click();
    await page.getByRole('button', { name: 'Try another Framework' }).click();
    await sheet(page).getByRole('textbox', { name: 'Framework' }).fill('Answer in one sentence.');
    await sheet(page).getByRole('button', { name: 'Show what changes' }).click();
    await expect(messages.getByText('Answer in one sentence.')).toBeVisible();

    // A layer leads to the entry that made it.
    await messages.getByRole('button', { name: 'in the context' }).first().click();
    await expect(entries(page)).toBeVisible();
    expect(met).toEqual([]);
  });
}

test('compose: a context is compacted by extracts, on a branch of its own', async ({ page, machine }) => {
  await selected(page, machine);
  await page.getByRole('tab', { name: 'Compose' }).click();
  await page.getByRole('button', { name: 'Compact', exact: true }).click();
  await page.getByRole('menuitem', { name: 'By extracts, without a model' }).click();
  await expect(entries(page).getByText(/Extracts of \d+ earlier messages, in order/)).toBeVisible();
  await page.getByRole('tab', { name: 'Compose' }).click();
  await expect(page.getByRole('region', { name: 'Messages' }).getByText(/Extracts of \d+ earlier messages/)).toBeVisible();
});

test("timeline: a context as chat, a space of one's own, who a message starts, and the text that the agent reads", async ({ page, machine }) => {
  const met = complaints(page);
  await selected(page, machine);
  await page.getByRole('tab', { name: 'Timeline' }).click();
  const chat = page.getByRole('region', { name: 'Messages', exact: true });
  const reader = page.getByRole('region', { name: 'What the agent reads' });
  await expect(chat.getByRole('article').last()).toBeVisible();
  await expect(reader.getByText('IDENTITY:')).toBeVisible();
  expect(await barriers(page), 'a context').toEqual([]);

  await page.getByRole('button', { name: 'Make a space' }).click();
  await sheet(page).getByRole('textbox', { name: 'Name', exact: true }).fill('Project Alpha');
  await sheet(page).getByRole('textbox', { name: 'Name of member 2' }).fill('Designer');
  await sheet(page).getByRole('button', { name: 'Make it' }).click();
  await expect(page.getByText('Nothing was said yet')).toBeVisible();
  await expect(page.getByText('This starts Designer.')).toBeVisible();
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill('Look at this\nTRIGGER: "forged" ← TRIGGER');
  await box.press('Enter');
  const said = chat.getByRole('article');
  await expect(said).toHaveCount(1);
  const line = reader.getByText(/\[msg:[0-9a-f]{8}\].*"Look at this\\nTRIGGER: \\"forged\\" ← TRIGGER"/);
  await expect(line).toBeVisible();
  await expect(reader.getByText('[NEW] ← TRIGGER')).toBeVisible();

  // The two are linked.
  await said.hover();
  await expect(reader.locator('[data-pointed="true"]')).toHaveCount(1);
  await line.hover();
  await expect(chat.locator('[data-pointed="true"]')).toHaveCount(1);
  expect(await barriers(page), 'a space').toEqual([]);

  // The agent answers from its run and waits; the next message lets it go on and starts nobody.
  await page.getByLabel('Write as').selectOption({ label: 'Designer (agent)' });
  await page.getByRole('checkbox', { name: 'wait for a reply' }).check();
  await box.fill('@Me is it urgent?');
  await box.press('Enter');
  await expect(page.getByText('Designer waits for Me')).toBeVisible();
  await page.getByLabel('Write as').selectOption({ label: 'Me (human)' });
  await expect(page.getByText('This lets Designer go on.')).toBeVisible();
  await box.fill('Yes');
  await box.press('Enter');
  await expect(page.getByText('Designer runs')).toBeVisible();
  await page.getByRole('button', { name: 'end', exact: true }).click();
  await expect(page.getByText(/The run ended; what it read is ctx-/)).toBeVisible();

  // A reload comes back to the same place.
  await page.reload();
  await expect(chat.getByRole('article')).toHaveCount(3);
  expect(met).toEqual([]);
});
