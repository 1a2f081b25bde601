import { expect, test } from '../../support/e2e.js';
import { entries, sheet } from '../../support/window.js';

test('the palette finds text of any entry and leads to it', async ({ page, shared }) => {
  await shared.open(page, 'Histories');
  await page.keyboard.press('Control+k');
  await sheet(page).getByRole('combobox').fill('damson midnight');
  const hit = sheet(page)
    .getByRole('group', { name: /^Jam that is gone/ })
    .getByRole('option')
    .first();
  await expect(hit).toContainText(/damson/i);
  await expect(hit.locator('mark').first()).toBeVisible();
  await hit.click();
  await expect(entries(page)).toContainText(/damson/i);
  await expect(page).toHaveURL(/entry=/);
});
