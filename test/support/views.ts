import { expect, type Page } from '@playwright/test';
import type { SharedHost } from './shared-host.js';
import { commits, view } from './window.js';

/** The looks in which every view must be readable. */
export const themes = [
  { name: 'light', colorScheme: 'light', contrast: 'no-preference', forcedColors: 'none' },
  { name: 'dark', colorScheme: 'dark', contrast: 'no-preference', forcedColors: 'none' },
  { name: 'high contrast', colorScheme: 'dark', contrast: 'more', forcedColors: 'active' },
] as const;

/** Opens the sample, which fills every view. Returns the part of the address that names the project and two of its commits. */
export async function withSample(page: Page, shared: SharedHost): Promise<string> {
  const project = await shared.open(page, 'Sample');
  const [commit = '', against = ''] = await commits(page).evaluateAll((rows) =>
    [rows[0], rows[3]].map((row) => row?.getAttribute('data-commit') ?? ''),
  );
  return new URLSearchParams({ project, commit, against }).toString();
}

/** Shows a view, named as in the address: `settings&settings=team`. Waits until it has loaded. */
export async function toView(page: Page, query: string, address: string): Promise<void> {
  const [path = '', more = ''] = address.split('&');
  await page.evaluate(([to]) => (location.hash = to as string), [`#/${path}?${query}&${more}`]);
  await expect(view(page).locator('[aria-busy="true"], .loading-words')).toHaveCount(0);
  await expect(view(page)).not.toBeEmpty();
}
