import type { Page } from '@playwright/test';
import { lastingViolations } from '../../support/axe.js';
import { expect, test } from '../../support/e2e.js';
import type { SharedHost } from '../../support/shared-host.js';
import { themes, toView, withSample } from '../../support/views.js';
import { commits, complaints, place, view } from '../../support/window.js';

const views = [
  'sessions',
  'chain',
  'context',
  'calls',
  'calls&part=latest',
  'replay',
  'compare',
  'run',
  'run&runs=after',
  'jobs',
  'jobs&kinds=rules',
  'timeline',
  'timeline&space=larder',
  'handover',
  'handover&handovers=pack',
  'boxes',
  'profiles',
  'profiles&kinds=templates',
  'compose',
  'usage&range=all',
  'findings',
  'sql',
  'reviews',
  'reviews&tickets=list',
  'reviews&tickets=waiting',
  'experiments',
  'settings',
  'settings&settings=providers',
  'settings&settings=summaries',
  'settings&settings=storage',
  'settings&settings=replicas',
  'settings&settings=team',
];

/** Opens the sample and calls `look` at each of these views. */
async function eachView(page: Page, shared: SharedHost, names: readonly string[], look: (name: string) => Promise<void>): Promise<void> {
  const query = await withSample(page, shared);
  for (const name of names) {
    await toView(page, query, name);
    await look(name);
  }
}

// Three tests, so that the workers share the longest work of all.
for (const [part, names] of [
  ['first', views.slice(0, 10)],
  ['second', views.slice(10, 20)],
  ['third', views.slice(20)],
] as const)
  test(`[W47] no view violates an accessibility rule in light, dark or high contrast, ${part} part`, { tag: '@long' }, async ({ page, shared }) => {
    const met = complaints(page);
    const found: Record<string, string[]> = {};
    await eachView(page, shared, names, async (view) => {
      for (const { name, ...media } of themes) {
        await page.emulateMedia({ ...media, reducedMotion: 'reduce' });
        await expect(page.locator('html')).toHaveAttribute('data-theme', media.colorScheme);
        const met = await lastingViolations(page, name === 'light' ? {} : { only: 'colors' });
        if (met.length > 0) found[`${view}, ${name}`] = met;
      }
    });
    expect(found).toEqual({});
    expect(met).toEqual([]);
  });

const sizes = [
  { name: '760 px', width: 760, height: 900 },
  // A window of 1440 by 900 at 200 %.
  { name: '200 %', width: 720, height: 450 },
] as const;

test('[W47] every view fits at 760 px and at 200 %, without scrolling sideways', { tag: '@long' }, async ({ page, shared }) => {
  await page.setViewportSize(sizes[0]);
  const found: string[] = [];
  await eachView(page, shared, views, async (one) => {
    for (const size of sizes) {
      await page.setViewportSize(size);
      // A pane may follow a new size a moment later.
      let problems: string[] = [];
      await expect
        .poll(async () => (problems = await cutOff(page, size.width)), { timeout: 10_000 })
        .toEqual([])
        .catch(() => {});
      for (const problem of problems) found.push(`${one} at ${size.name}: ${problem}`);
    }
  });
  expect(found).toEqual([]);
});

/** What of the view does not fit into a window of this width. */
async function cutOff(page: Page, width: number): Promise<string[]> {
  const found: string[] = [];
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  const box = await view(page).boundingBox();
  if (wide > 0) found.push(`the page is ${wide} px too wide`);
  if (!box || box.width < 300 || box.x + box.width > width + 1) found.push(`the view has ${Math.round(box?.width ?? 0)} px`);
  // Every button of the view can be brought into the window.
  const out = await view(page)
    .getByRole('button')
    .evaluateAll(
      (buttons, edge) =>
        buttons.flatMap((button) => {
          const { left, right, width: own } = button.getBoundingClientRect();
          const scrolls = button.closest('[class*="scroll"], [role="treegrid"], [role="tablist"], nav, [class*="board"]') !== null;
          return own > 0 && !scrolls && (left < -1 || right > edge + 1) ? [button.textContent || button.getAttribute('aria-label') || '?'] : [];
        }),
      width,
    );
  return [...found, ...out.map((button) => `“${button}” is outside of the window`)];
}

test('[W51][W52] nothing scrolls sideways, the last call is in view, and no hit says so', async ({ page, shared }) => {
  await withSample(page, shared);
  await page.getByRole('option', { name: /^Call it 1\.2\.1/ }).click();
  const wide = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('main, main *')]
        .filter((one) => one.scrollWidth > one.clientWidth && ['auto', 'scroll'].includes(getComputedStyle(one).overflowX))
        .map((one) => `${one.className}: ${one.scrollWidth} in ${one.clientWidth}`),
    );
  await expect.poll(wide).toEqual([]);
  await page.getByRole('searchbox', { name: 'Filter commits' }).fill('no such words anywhere');
  await expect(view(page).getByRole('heading', { name: 'No matching commits' })).toBeVisible();
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await expect(commits(page).first()).toBeVisible();

  await place(page, 'Calls').click();
  await expect(page.getByRole('img', { name: /^Tokens of 24 calls/ })).toBeVisible();
  const list = page.getByRole('listbox', { name: 'Calls in the order sent' });
  const room = () =>
    list.evaluate((box) => {
      const chosen = box.querySelector('[aria-selected="true"]')?.getBoundingClientRect();
      return chosen ? box.getBoundingClientRect().bottom - chosen.bottom : -1;
    });
  await expect.poll(room).toBeGreaterThanOrEqual(-0.5);
  await expect.poll(() => list.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
  await page.getByRole('searchbox', { name: 'Filter calls' }).fill('no such words anywhere');
  await page.getByRole('button', { name: 'Show all calls' }).click();
  await expect(list).toBeVisible();
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect.poll(() => page.locator('.calls-bar').evaluate((bar) => bar.clientHeight)).toBeLessThan(45);
});
