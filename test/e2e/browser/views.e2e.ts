import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/e2e.js';
import type { Machine } from '../../support/machine.js';
import { commits, view } from '../../support/window.js';

const views = [
  'sessions',
  'chain',
  'context',
  'calls',
  'replay',
  'compare',
  'run',
  'timeline',
  'handover',
  'boxes',
  'compose',
  'reviews',
  'experiments',
  'settings',
  'settings&settings=providers',
  'settings&settings=storage',
  'settings&settings=replicas',
];

/** Opens the sample, which fills every view, and calls `look` at each view. */
async function eachView(page: Page, machine: Machine, look: (name: string) => Promise<void>): Promise<void> {
  const { url } = await machine.web();
  await page.goto(url);
  await page.getByRole('button', { name: 'Open the sample project' }).click();
  await expect(commits(page).first()).toBeVisible();
  const query = new URLSearchParams(page.url().split('?')[1]);
  const [tip, other] = await commits(page).evaluateAll((rows) => [rows[0], rows[3]].map((row) => row?.getAttribute('data-commit') ?? ''));
  query.set('commit', tip ?? '');
  query.set('against', other ?? '');
  for (const name of views) {
    const [path, more = ''] = name.split('&');
    await page.evaluate(([to]) => (location.hash = to as string), [`#/${path}?${query.toString()}&${more}`]);
    await expect(view(page).locator('[aria-busy="true"], .loading-words')).toHaveCount(0);
    await expect(view(page)).not.toBeEmpty();
    await look(name);
  }
}

async function barriers(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']).analyze();
  return violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

for (const [name, media] of [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['high contrast', { colorScheme: 'dark', contrast: 'more', forcedColors: 'active' }],
] as const) {
  test(`[W47] every view violates no accessibility rule, ${name}`, async ({ page, machine }) => {
    await page.emulateMedia({ ...media, reducedMotion: 'reduce' });
    const found: Record<string, string[]> = {};
    await eachView(page, machine, async (one) => {
      const met = await barriers(page);
      if (met.length > 0) found[one] = met;
    });
    expect(found).toEqual({});
  });
}

for (const [name, size] of [
  ['760 px', { width: 760, height: 900 }],
  // A window of 1440 by 900 at 200 %.
  ['200 % zoom', { width: 720, height: 450 }],
] as const) {
  test(`[W47] every view fits at ${name}: nothing is cut off or needs sideways scrolling`, async ({ page, machine }) => {
    await page.setViewportSize(size);
    const found: string[] = [];
    await eachView(page, machine, async (one) => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      const box = await view(page).boundingBox();
      if (wide > 0) found.push(`${one}: the page is ${wide} px too wide`);
      if (!box || box.width < 300 || box.x + box.width > size.width + 1) found.push(`${one}: the view has ${Math.round(box?.width ?? 0)} px`);
      // Every button of the view can be brought into the window.
      const out = await view(page)
        .getByRole('button')
        .evaluateAll(
          (buttons, width) =>
            buttons.flatMap((button) => {
              const { left, right, width: own } = button.getBoundingClientRect();
              const scrolls = button.closest('[class*="scroll"], [role="treegrid"], [role="tablist"], nav, [class*="board"]') !== null;
              return own > 0 && !scrolls && (left < -1 || right > width + 1) ? [button.textContent || button.getAttribute('aria-label') || '?'] : [];
            }),
          size.width,
        );
      for (const button of out) found.push(`${one}: “${button}” is outside of the window`);
    });
    expect(found).toEqual([]);
  });
}
