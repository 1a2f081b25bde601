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
  { name: '1024 by 700', width: 1024, height: 700 },
] as const;

test('[W47] every view fits at 760 px, 1024 by 700 and 200 %: nothing overlaps or is cut', { tag: '@long' }, async ({ page, shared }) => {
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
  return [...found, ...out.map((button) => `“${button}” is outside of the window`), ...(await view(page).evaluate(stickingOut))];
}

/** Controls of a view that overlap, and texts that stick out of their card, button or badge. Runs in the page. */
function stickingOut(view: Element): string[] {
  const named = (element: Element): string => `“${(element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 40)}”`;
  /** The part of an element that its scrolling ancestors show. */
  const shown = (element: Element): DOMRect => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const part = { left, top, right, bottom };
    for (let above = element.parentElement; above; above = above.parentElement) {
      if (getComputedStyle(above).overflow === 'visible') continue;
      const box = above.getBoundingClientRect();
      part.left = Math.max(part.left, box.left);
      part.top = Math.max(part.top, box.top);
      part.right = Math.min(part.right, box.right);
      part.bottom = Math.min(part.bottom, box.bottom);
    }
    return new DOMRect(part.left, part.top, Math.max(0, part.right - part.left), Math.max(0, part.bottom - part.top));
  };
  /** The bar at the edge of a scrolling pane that covers what scrolls below it. */
  const barOf = (element: Element): Element | undefined => {
    for (let above: Element | null = element; above; above = above.parentElement)
      if (['sticky', 'fixed'].includes(getComputedStyle(above).position)) return above;
    return undefined;
  };
  const controls = [...view.querySelectorAll('button, a[href], input, select, textarea, [role=radio], h1, h2')]
    .filter((element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest('[aria-hidden=true]'))
    .map((element) => ({ element, box: shown(element), bar: barOf(element) }))
    .filter(({ box }) => box.width > 2 && box.height > 2);
  const overlaps = controls.flatMap((one, place) =>
    controls.slice(place + 1).flatMap((other) => {
      if (one.element.contains(other.element) || other.element.contains(one.element) || one.bar !== other.bar) return [];
      const width = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const height = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      return width > 2 && height > 2 ? [`${named(one.element)} overlaps ${named(other.element)}`] : [];
    }),
  );
  const range = document.createRange();
  const texts = document.createTreeWalker(view, NodeFilter.SHOW_TEXT);
  const out: string[] = [];
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const around = text.parentElement?.closest('button, .badge, [class*="card"]');
    if (!around || !text.textContent?.trim() || !text.parentElement?.checkVisibility()) continue;
    range.selectNodeContents(text);
    let isClipped = false;
    for (let above: HTMLElement | null = text.parentElement; above && above !== around.parentElement; above = above.parentElement)
      isClipped ||= getComputedStyle(above).overflowX !== 'visible';
    const box = around.getBoundingClientRect();
    if (!isClipped && box.width > 2 && range.getBoundingClientRect().right > box.right + 1)
      out.push(`the text ${named(text.parentElement)} sticks out of ${named(around)}`);
  }
  return [...overlaps, ...out];
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
  // A key leads to the miss before this call.
  await list.press('Shift+M');
  await expect(list.getByRole('option', { selected: true })).toContainText('miss');
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect.poll(() => page.locator('.calls-bar').evaluate((bar) => bar.clientHeight)).toBeLessThan(45);
});

test('a low and narrow window shows the selected row, short names and the columns', async ({ page, shared }) => {
  await page.setViewportSize({ width: 1000, height: 400 });
  const query = await withSample(page, shared);
  const names = page.getByRole('list', { name: 'You are here' }).getByRole('link');
  await expect(names.filter({ hasText: /^larder$/ })).toBeVisible();
  expect(await names.filter({ hasText: /^larder$/ }).evaluate((name) => name.scrollWidth - name.clientWidth)).toBe(0);
  await expect(view(page).locator('.chain-head')).toBeVisible();
  await toView(page, query, 'sessions');
  const sessions = page.getByRole('treegrid', { name: 'Sessions' });
  const selected = sessions.getByRole('row', { selected: true });
  for (const [key, first] of [
    ['End', /An overview of larder/],
    ['Home', /Look through src/],
  ] as const) {
    await sessions.press(key);
    await expect(selected).toContainText(first);
    await expect(selected).toBeInViewport({ ratio: 0.95 });
  }
  await page.setViewportSize({ width: 1000, height: 700 });
  const tip = new URLSearchParams(query);
  await toView(page, query, 'chain');
  tip.set('commit', (await page.getByRole('option', { name: /^Call it 1\.2\.1/ }).getAttribute('data-commit')) ?? '');
  await toView(page, tip.toString(), 'calls');
  await expect(page.getByRole('listbox', { name: 'Calls in the order sent' }).getByRole('option', { selected: true })).toBeInViewport({
    ratio: 0.95,
  });
  // Long names of a table give way to its figures.
  await page.setViewportSize({ width: 1440, height: 900 });
  await toView(page, `${query}&group=session`, 'usage&range=all');
  const table = page.getByRole('table', { name: 'Usage by session' });
  await expect(table).toBeVisible();
  await expect.poll(() => table.evaluate((one) => (one.parentElement?.scrollWidth ?? 0) - (one.parentElement?.clientWidth ?? 0))).toBe(0);
});

test('wide figures of a chain are shown whole, and so are the colors of a legend', async ({ page, shared }) => {
  await withSample(page, shared);
  const row = page.getByRole('option', { name: /^Look through src/ });
  const cut = await row
    .locator('.chain-number, .chain-tokens, .chain-cost')
    .evaluateAll((figures) => figures.map((figure) => getComputedStyle(figure).overflowX));
  expect(cut).toEqual(Array(5).fill('visible'));
  await row.click();
  await place(page, 'Replay').click();
  const color = page.getByRole('region', { name: 'Context window' }).locator('li > i').first();
  await expect.poll(async () => (await color.boundingBox())?.width).toBe(8);
});
