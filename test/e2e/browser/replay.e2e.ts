import { expect, test } from '../../support/e2e.js';
import { messageEvents, modelServer, stream } from '../../support/model-server.js';
import { commits, complaints } from '../../support/window.js';

test('a chain is stepped through, and a turn is run again on the recording and, changed, on a server that speaks the real wire', async ({
  page,
  machine,
}) => {
  const met = complaints(page);
  const server = await modelServer((response) => stream(response, messageEvents({ text: 'Nothing needs to be fixed.' })));
  Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: server.url });
  machine.giveHistory();
  const { url } = await machine.web();
  await page.goto(url);
  await page.getByRole('button', { name: 'Import all' }).click();
  await expect(commits(page).first()).toBeVisible();
  await page.getByRole('option', { name: /^Fix it, please\. Test first\./ }).click();

  // Step by keyboard; the address names the step, and a reload keeps it.
  await page.getByRole('tab', { name: 'Replay' }).click();
  const moment = page.getByRole('slider', { name: 'Moment of the replay' });
  await moment.press('Home');
  await moment.press('ArrowRight');
  await moment.press('.');
  await expect(moment).toHaveAttribute('aria-valuenow', '3');
  await expect(page).toHaveURL(/entry=/);
  await expect(page.getByRole('region', { name: 'Context window' })).toContainText('3 entries');

  // Again on the recording.
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByRole('article', { name: 'Reply', exact: true })).toContainText('done');
  await expect(page.getByRole('button', { name: 'Open the branch' })).toBeVisible();

  // Changed, on the server.
  await page.getByRole('combobox', { name: 'Provider' }).selectOption('anthropic');
  await page.getByText('System prompt', { exact: true }).click();
  await page.getByRole('button', { name: 'Add a block' }).click();
  await page.getByRole('textbox', { name: 'System prompt, block 1' }).fill('Be short.');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const reply = page.getByRole('article', { name: 'Reply', exact: true }).first();
  await expect(reply).toContainText('Nothing needs to be fixed.');
  await reply.getByRole('button', { name: 'Compare' }).click();
  await expect(page.getByRole('region', { name: 'Differences' })).toContainText('Nothing needs to be fixed.');
  expect(server.asked.at(-1)?.body).toMatchObject({ system: [{ type: 'text', text: 'Be short.' }] });
  expect(met).toEqual([]);
  server.close();
});
