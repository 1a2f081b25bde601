import { expect, test } from '../../support/e2e.js';
import { commits, complaints, entries, openContext } from '../../support/window.js';

test('a call between the entries of a context opens as the request that was sent, proved, compared and copied', async ({
  page,
  machine,
  context,
}) => {
  const met = complaints(page);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  machine.giveHistory();
  const { url } = await machine.web();
  await page.goto(url);
  await page.getByRole('button', { name: 'Import all' }).click();
  await expect(commits(page).first()).toBeVisible();

  // The seam says how far the call is proved (the sample holds no request records), and opens it.
  await openContext(page, page.getByRole('option', { name: /^Fix it, please\. Test first\./ }));
  const seam = entries(page)
    .getByRole('button', { name: /rebuilt/ })
    .first();
  await expect(seam).toBeVisible();
  await seam.click();
  await expect(page.getByRole('tab', { name: 'Request' })).toHaveAttribute('aria-selected', 'true');
  await expect(page).toHaveURL(/call=/);

  // The request with its parts, and what changed since the call before.
  const requests = page.getByRole('region', { name: 'Requests' });
  await expect(requests.getByText('rebuilt').first()).toBeVisible();
  await expect(requests.getByRole('region', { name: 'System prompt' })).toContainText('not recorded');
  const messages = requests.getByRole('region', { name: 'Messages' });
  await expect(messages).toContainText('damson jam');
  // A tool call stands in the message that made it.
  const call = messages.getByText('Read', { exact: true }).first();
  const [list, shown] = [await messages.boundingBox(), await call.boundingBox()];
  expect(shown?.x).toBeGreaterThan(list?.x ?? 0);
  await expect(requests.getByRole('region', { name: 'What changed' })).toContainText(/The cached beginning (holds|broke)/);

  // What filled the window, by cause; a click steps into a call.
  const fill = requests.getByRole('region', { name: 'What filled the window' });
  await expect(fill).toContainText(/Call \d+/);
  await expect(fill).toContainText(/Tool results [\d.]+/);
  await fill.getByRole('img').click({ position: { x: 64, y: 100 } });
  await expect(requests.getByRole('heading', { name: 'Call 1', exact: true })).toBeVisible();
  await page.goBack();

  // From call to call by keyboard; the address follows.
  const before = page.url();
  await page.getByRole('listbox', { name: 'Calls in the order sent' }).press('ArrowUp');
  await expect(page).not.toHaveURL(before);

  // A command that names the variable of the key, and no key.
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  expect(command).toContain('$ANTHROPIC_API_KEY');
  expect(command).toContain('/v1/messages');

  // The sample's sessions wrote no system prompt down: that is said, and not an error.
  await page.getByRole('radio', { name: 'Prompts and tools' }).click();
  await expect(page.getByText('No system prompt is written down yet')).toBeVisible();
  await page.getByRole('radio', { name: 'Calls' }).click();

  // And back to where the answer stands.
  await page.getByRole('button', { name: 'its answer in the context' }).click();
  await expect(entries(page)).toBeVisible();
  expect(met).toEqual([]);
});
