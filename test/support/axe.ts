import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';
import { bothThemes } from './window.js';

const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];

/** Rows of a list look alike. All of them are checked once, and the first ones in each further theme. */
const laterRows = '[role="option"]:nth-child(n+12), [role="row"]:nth-child(n+12), [role="listitem"]:nth-child(n+12), li:nth-child(n+12)';

/** Instead of the source of axe, which a page compiles once, and not again for each check. */
const loaded = '/* loaded */';

/**
 * The accessibility rules that the page violates, with the first elements of each: all rules for a part (a CSS selector), WCAG for the page.
 * A change of colors can break only the rule `color-contrast`, so check all rules once, and only the colors of further themes.
 *
 * The window has no frames, and only violations are wanted. Saying so (legacy mode, result types) makes a check four times as fast.
 */
async function violations(page: Page, { part, only }: { part?: string; only?: 'colors' } = {}): Promise<string[]> {
  const isLoaded = await page.evaluate(() => 'axe' in window);
  const axe = new AxeBuilder({ page, ...(isLoaded && { axeSource: loaded }) }).setLegacyMode().options({ resultTypes: ['violations'] });
  if (part !== undefined) axe.include(part);
  if (only) axe.withRules(['color-contrast']).exclude(laterRows);
  else if (part === undefined) axe.withTags(wcag);
  const found = await axe.analyze();
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160))}`);
}

/** The violations that last: what has just appeared may be half drawn. */
export async function lastingViolations(page: Page, where: Parameters<typeof violations>[1] = {}): Promise<string[]> {
  let found: string[] = [];
  await expect
    .poll(async () => (found = await violations(page, where)), { timeout: 10_000 })
    .toEqual([])
    .catch(() => {});
  return found;
}

/** Expects that a part of the page, or all of it, violates no accessibility rule in either theme. */
export async function expectAccessible(page: Page, part?: string): Promise<void> {
  await bothThemes(page, async (theme) => {
    // The window applies the theme one frame after the system changes it.
    await expect(page.locator('html')).toHaveAttribute('data-theme', theme);
    expect(
      await lastingViolations(page, { ...(part !== undefined && { part }), ...(theme === 'light' && { only: 'colors' }) }),
      `${part ?? 'page'}, ${theme}`,
    ).toEqual([]);
  });
}
