import { expect, type Locator, type Page } from '@playwright/test';

/** The window as a person finds their way in it: by names and roles, never by classes. */
export const commits = (page: Page): Locator => page.getByRole('listbox', { name: 'Commits, newest first' }).getByRole('option');
export const entries = (page: Page): Locator => page.getByRole('region', { name: 'Entries' });
export const sheet = (page: Page): Locator => page.getByRole('dialog');

/** What the window met that it should not have: page errors, refused loads, errors in the console. */
export function complaints(page: Page): string[] {
  const met: string[] = [];
  page.on('pageerror', (error) => met.push(`page error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || /content security policy/i.test(message.text())) met.push(`console: ${message.text()}`);
  });
  return met;
}

/** Every entry key of the context that is shown, in order, read by scrolling through the list. */
export async function shownKeys(page: Page): Promise<string[]> {
  const feed = entries(page);
  await expect(feed).toBeVisible();
  const keys: string[] = [];
  await feed.evaluate((list) => list.scrollTo({ top: 0 }));
  for (;;) {
    await expect(feed).toHaveAttribute('aria-busy', 'false');
    const { here, atEnd } = await feed.evaluate(async (list) => {
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      const here = [...list.querySelectorAll<HTMLElement>('[data-entry]')].map((block) => block.dataset.entry ?? '');
      const before = list.scrollTop;
      list.scrollBy({ top: list.clientHeight / 2 });
      return { here, atEnd: list.scrollTop === before };
    });
    for (const key of here) if (!keys.includes(key)) keys.push(key);
    if (atEnd) return keys;
  }
}

/** Opens a commit's context by keyboard, as the chain offers it. */
export async function openContext(page: Page, commit: Locator): Promise<void> {
  await commit.click();
  await page.getByRole('listbox', { name: 'Commits, newest first' }).press('Enter');
  await expect(entries(page)).toBeVisible();
}
