import { expect, test } from '../../support/e2e.js';
import { complaints, entries, openContext, place } from '../../support/window.js';

test('a model call opens from the context; its request is shown, compared and copied', { tag: '@long' }, async ({ page, shared, context }) => {
  const met = complaints(page);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await shared.open(page, 'Histories');

  // A call between entries shows its proof and opens the request. The sample contains no request records.
  await openContext(page, page.getByRole('option', { name: /^Fix it, please\. Test first\./ }));
  const seam = entries(page)
    .getByRole('button', { name: /reconstructed/ })
    .first();
  await expect(seam).toBeVisible();
  await seam.click();
  await expect(place(page, 'Calls')).toHaveAttribute('aria-current', 'page');
  await expect(page).toHaveURL(/call=/);

  // The request with its parts, and the changes since the previous call.
  const requests = page.getByRole('region', { name: 'Requests' });
  await expect(requests.getByText('reconstructed').first()).toBeVisible();
  await expect(requests.getByRole('region', { name: 'System prompt' })).toContainText('not recorded');
  const messages = requests.getByRole('region', { name: 'Messages' });
  await expect(messages).toContainText('damson jam');
  // A tool call is indented in its message.
  const call = messages.getByText('Read', { exact: true }).first();
  const indent = async (): Promise<number> => ((await call.boundingBox())?.x ?? 0) - ((await messages.boundingBox())?.x ?? 0);
  await expect.poll(indent).toBeGreaterThan(0);
  await expect(requests.getByRole('region', { name: 'Changes' })).toContainText(/Cache prefix (intact|broken)/);

  // The chart of the context window by call; a click opens a call.
  const fill = requests.getByRole('region', { name: 'Context window by call' });
  await expect(fill).toContainText(/Call \d+/);
  await expect(fill).toContainText(/Tool results ≈ [\d.]+/);
  await fill.getByRole('img').click({ position: { x: 64, y: 100 } });
  await expect(requests.getByRole('heading', { name: 'Call 1', exact: true })).toBeVisible();
  await page.goBack();

  // The keyboard moves between calls, and the address follows.
  const before = page.url();
  await page.getByRole('listbox', { name: 'Calls in the order sent' }).press('ArrowUp');
  await expect(page).not.toHaveURL(before);

  // The copied command names the key's environment variable and contains no key.
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  expect(command).toContain('$ANTHROPIC_API_KEY');
  expect(command).toContain('/v1/messages');

  // The sample's sessions recorded no system prompts: an empty state, not an error.
  await page.getByRole('radio', { name: 'Prompts and tools' }).click();
  await expect(page.getByText('No recorded system prompts')).toBeVisible();
  await page.getByRole('radio', { name: 'Calls' }).click();

  // Back to the reply in the context.
  await page.getByRole('button', { name: 'Show the reply in Context' }).click();
  await expect(entries(page)).toBeVisible();
  expect(met).toEqual([]);
});
