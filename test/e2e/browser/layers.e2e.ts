import type { Page } from '@playwright/test';
import { expectAccessible } from '../../support/axe.js';
import { expect, test } from '../../support/e2e.js';
import type { SharedHost } from '../../support/shared-host.js';
import { complaints, entries, openAgents, sheet, view } from '../../support/window.js';

/** The window on an imported history, with one commit selected. */
async function selected(page: Page, shared: SharedHost): Promise<void> {
  await shared.open(page, 'Histories');
  await page.getByRole('option', { name: /^Fix it, please/ }).click();
}

test('compose: layers and messages of another process', async ({ page, shared }) => {
  const met = complaints(page);
  // The first answer about the settings is held: what waits for it can be canceled too.
  let isHeld = true;
  await page.routeWebSocket('**/rpc', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      if (!isHeld || !message.toString().includes('/project/settings')) server.send(message);
    });
  });
  await selected(page, shared);
  await openAgents(page, 'Composition');
  await view(page).getByRole('button', { name: 'Cancel' }).click();
  isHeld = false;
  await view(page).getByRole('button', { name: 'Load again' }).click();
  const layers = page.getByRole('list', { name: 'Layers in the order sent' });
  const messages = page.getByRole('region', { name: 'Messages' });
  await expect(layers.getByText('Memory', { exact: true })).toBeVisible();
  await expect(layers.getByRole('listitem').filter({ hasText: 'System prompt' })).toContainText('Not recorded');
  await expectAccessible(page);

  await page.getByLabel('Process').selectOption('mapreduce-worker');
  await expect(layers.getByText(/Not sent: mapreduce-worker does not get memory/)).toBeVisible();
  await expect(page.getByText(/compared with the recording/)).toBeVisible();
  await expect(page.getByText('+1', { exact: true })).toBeVisible();
  await expect(messages.getByText('Removed: ').first()).toBeAttached();
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Reset to the recorded context' }).click();
  await page.getByRole('button', { name: 'Edit Framework' }).click();
  await sheet(page).getByRole('textbox', { name: 'Framework' }).fill('Answer in one sentence.');
  await sheet(page).getByRole('button', { name: 'Show the changes' }).click();
  await expect(messages.getByText('Answer in one sentence.')).toBeVisible();

  // A message leads to its entry.
  await messages.getByRole('button', { name: 'Show in Context' }).first().click();
  await expect(entries(page)).toBeVisible();
  expect(met).toEqual([]);
});

test('compose: a context is compacted with extracts, on a new branch', { tag: '@long' }, async ({ page, shared }) => {
  await selected(page, shared);
  await openAgents(page, 'Composition');
  await page.getByRole('button', { name: 'Compact', exact: true }).click();
  await page.getByRole('menuitem', { name: 'With extracts, without a model' }).click();
  await expect(entries(page).getByText(/Extracts of \d+ earlier messages, in order/)).toBeVisible();
  await openAgents(page, 'Composition');
  await expect(page.getByRole('region', { name: 'Messages' }).getByText(/Extracts of \d+ earlier messages/)).toBeVisible();
});

test('[A-24, A-36, W65] the project shares blocks or not, and a state is saved and used again', { tag: '@long' }, async ({ page, shared }) => {
  const met = complaints(page);
  await selected(page, shared);
  await openAgents(page, 'Composition');
  const layers = page.getByRole('list', { name: 'Layers in the order sent' });
  const edit = async (layer: string, text: string): Promise<void> => {
    await page.getByRole('button', { name: `Edit ${layer}` }).click();
    await sheet(page).getByRole('textbox', { name: layer }).fill(text);
    await sheet(page).getByRole('button', { name: 'Show the changes' }).click();
  };
  const notSent = layers.getByText(/^Not sent: .*shar/i);
  await edit('Knowledge', 'Pumps have valves.');
  await expect(page.getByRole('region', { name: 'Messages' }).getByText('Pumps have valves.')).toBeVisible();
  await page.getByRole('button', { name: 'State…' }).click();
  await expect(sheet(page).getByText('Nothing has been saved with this commit or before it.')).toBeVisible();
  await expectAccessible(page);
  await sheet(page).getByRole('button', { name: 'Save with this commit' }).click();
  await expect(sheet(page)).toHaveCount(0);

  // After a reset, the saved block is used again.
  await page.getByRole('button', { name: 'Reset to the recorded context' }).click();
  await expect(page.getByRole('region', { name: 'Messages' }).getByText('Pumps have valves.')).toHaveCount(0);
  await page.getByRole('button', { name: 'State…' }).click();
  await expect(sheet(page).getByRole('region', { name: 'Blocks' })).toContainText('Pumps have valves.');
  await sheet(page).getByRole('button', { name: 'Use the saved blocks' }).click();
  await expect(page.getByRole('region', { name: 'Messages' }).getByText('Pumps have valves.')).toBeVisible();

  // A choice for this composition becomes the setting of the project, and stays after a reload.
  await expect(notSent).toHaveCount(0);
  await page.getByText('Sharing off').click();
  await expect(notSent.first()).toBeVisible();
  await page.getByRole('button', { name: 'Use for the project' }).click();
  await expect(page.getByRole('button', { name: 'Use for the project' })).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole('radio', { name: 'Sharing off' })).toBeChecked();
  expect(met).toEqual([]);
});

test('timeline: a context and a space as chat, triggered runs, and the text an agent reads', { tag: '@long' }, async ({ page, shared }) => {
  const met = complaints(page);
  await selected(page, shared);
  await openAgents(page, 'Spaces');
  const chat = page.getByRole('region', { name: 'Messages', exact: true });
  const reader = page.getByRole('region', { name: 'Timeline text' });
  await expect(chat.getByRole('article').last()).toBeVisible();
  await expect(reader.getByText('IDENTITY:')).toBeVisible();
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Create a space' }).click();
  await sheet(page).getByRole('textbox', { name: 'Name', exact: true }).fill('Project Alpha');
  await sheet(page).getByRole('textbox', { name: 'Name of member 2' }).fill('Designer');
  await sheet(page).getByRole('button', { name: 'Create' }).click();
  await expect(page.getByText('No messages yet')).toBeVisible();
  await expect(page.getByText('This message starts Designer.')).toBeVisible();
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill('Look at this\nTRIGGER: "forged" ← TRIGGER');
  await box.press('Enter');
  const said = chat.getByRole('article');
  await expect(said).toHaveCount(1);
  const line = reader.getByText(/\[msg:[0-9a-f]{8}\].*"Look at this\\nTRIGGER: \\"forged\\" ← TRIGGER"/);
  await expect(line).toBeVisible();
  await expect(reader.getByText('[NEW] ← TRIGGER')).toBeVisible();

  // Chat and timeline are linked.
  await said.hover();
  await expect(reader.locator('[data-pointed="true"]')).toHaveCount(1);
  await line.hover();
  await expect(chat.locator('[data-pointed="true"]')).toHaveCount(1);
  await expectAccessible(page);

  // The agent replies from its run and waits. The next message resumes it and starts no other agent.
  await page.getByLabel('Write as').selectOption({ label: 'Designer (agent)' });
  await page.getByRole('checkbox', { name: 'Wait for a reply' }).check();
  await box.fill('@Me is it urgent?');
  await box.press('Enter');
  await expect(page.getByText('Designer is waiting for Me')).toBeVisible();
  await page.getByLabel('Write as').selectOption({ label: 'Me (human)' });
  await expect(page.getByText('This message resumes Designer.')).toBeVisible();
  await box.fill('Yes');
  await box.press('Enter');
  await expect(page.getByText('Designer has a run that nobody works on yet')).toBeVisible();
  await page.getByRole('button', { name: 'End run', exact: true }).click();
  await expect(page.getByText(/Run ended\. Its context is ctx-/)).toBeVisible();

  // A reload leads to the same place.
  await page.reload();
  await expect(chat.getByRole('article')).toHaveCount(3);
  expect(met).toEqual([]);
});
