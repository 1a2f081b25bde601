import type { Page } from '@playwright/test';
import { expect, test } from '../../support/e2e.js';
import { toView, withSample } from '../../support/views.js';
import { commits, entries, settledCount, sheet, view } from '../../support/window.js';

const walked = [
  'sessions',
  'chain',
  'context',
  'calls',
  'replay',
  'compare',
  'run',
  'jobs',
  'timeline&space=larder',
  'handover',
  'handover&handovers=pack',
  'boxes',
  'profiles',
  'compose',
  'reviews',
  'experiments',
  'settings',
  'settings&settings=storage',
] as const;

/** More steps than any view of the sample has controls. */
const maxSteps = 160;

/** What has the focus: where it is, and whether a person sees that it is there. */
const focused = (page: Page, step: number) =>
  page.evaluate((now) => {
    const element = document.activeElement as HTMLElement | null;
    if (!element || element === document.body) return undefined;
    element.dataset.walked ??= String(now);
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    const { width, height, left, top, right, bottom } = element.getBoundingClientRect();
    const isMarked = (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
    const isInside = width > 0 && height > 0 && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
    const name = `<${element.tagName.toLowerCase()}> ${(element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 40)}`;
    return { name, met: Number(element.dataset.walked), isMarked, isInside, ahead: element.tabIndex > 0 };
  }, step);

test('[W58] Tab passes through every view once, shows the focus, and is never caught', { tag: '@long' }, async ({ page, shared }) => {
  const query = await withSample(page, shared);
  const found: string[] = [];
  for (const address of walked) {
    await toView(page, query, address);
    await page.evaluate(() => {
      for (const element of document.querySelectorAll<HTMLElement>('[data-walked]')) delete element.dataset.walked;
      document.querySelector<HTMLElement>('button, a[href]')?.focus();
    });
    let steps = 0;
    for (; steps < maxSteps; steps += 1) {
      if (steps > 0) await page.keyboard.press('Tab');
      const at = await focused(page, steps);
      // After the last control, the browser begins again.
      if (!at || (steps > 0 && at.met === 0)) break;
      if (at.met < steps) {
        found.push(`${address}: Tab comes back to ${at.name}`);
        break;
      }
      // The first one is given the focus by the test, not by a key.
      if (steps > 0 && !at.isMarked) found.push(`${address}: no focus is seen on ${at.name}`);
      if (!at.isInside) found.push(`${address}: ${at.name} is outside of the window`);
      if (at.ahead) found.push(`${address}: ${at.name} is out of order`);
    }
    if (steps < 5) found.push(`${address}: Tab reached only ${steps} controls`);
    if (steps === maxSteps) found.push(`${address}: Tab did not leave in ${maxSteps} steps`);
  }
  expect(found).toEqual([]);
});

test('[W58] the main jobs are done without a mouse', { tag: '@long' }, async ({ page, shared }) => {
  const query = await withSample(page, shared);
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };

  // Read a turn, edit its prompt in place, and keep the result as a branch.
  await toView(page, query, 'chain');
  const before = await settledCount(commits(page));
  await press('/');
  await expect(page.getByRole('searchbox', { name: 'Filter commits' })).toBeFocused();
  await page.keyboard.type('Fix it, please');
  await expect(commits(page)).toHaveCount(1);
  await press('Enter', 'Home', 'Shift+E');
  const prompt = page.getByRole('textbox', { name: 'Prompt' });
  await expect(prompt).toBeFocused();
  await page.keyboard.type(' And say why.');
  await page.getByRole('button', { name: 'Keep as branch' }).focus();
  await press('Enter');
  await expect(prompt).toHaveCount(0);
  await press('g', 'c');
  await expect(commits(page)).toHaveCount(before + 1);

  // Compare two commits, and go back.
  await page.getByRole('listbox', { name: 'Commits, newest first' }).focus();
  await press('Home', 'ArrowDown', 'ArrowDown', 'Space', 'ArrowDown', 'd');
  await expect(page.getByRole('heading', { name: 'Compare', level: 1 })).toBeVisible();
  await page.getByRole('button', { name: 'Back to Chain' }).focus();
  await press('Enter');
  await expect(commits(page).first()).toBeVisible();

  // The costliest cache miss.
  await toView(page, query, 'calls');
  // The misses are known a moment after the calls.
  await expect(async () => {
    await page.getByRole('listbox', { name: 'Calls in the order sent' }).focus();
    await press('Home', 'm');
    await expect(page.getByRole('region', { name: 'Cache miss' })).toBeVisible({ timeout: 2_000 });
  }).toPass();

  // Replay by steps.
  await toView(page, query, 'replay');
  await page.getByRole('slider', { name: 'Moment of the replay' }).focus();
  await press('Home', 'ArrowRight');
  await expect(view(page)).toContainText('Step 2 of');

  // A key that a menu shows works in the open menu, at its button, and in the view beside it.
  for (const how of ['menu', 'button', 'view'] as const) {
    await toView(page, query, 'context');
    await (how === 'view' ? entries(page) : page.getByRole('button', { name: 'More actions' })).focus();
    if (how === 'menu') await press('Enter');
    await expect(page.getByRole('menuitem', { name: 'Replay' })).toHaveCount(how === 'menu' ? 1 : 0);
    await press('r');
    await expect(page).toHaveURL(/#\/replay/);
    await expect(page.getByRole('menu')).toHaveCount(0);
  }

  // Write a ticket, open it, and leave it.
  await toView(page, query, 'reviews');
  await page.getByRole('button', { name: 'New ticket' }).focus();
  await press('Enter');
  await expect(sheet(page).locator('input:focus, textarea:focus')).toBeVisible();
  await page.keyboard.type('Written without a mouse');
  await page.getByRole('button', { name: 'Create ticket' }).focus();
  await press('Enter');
  await expect(sheet(page)).toHaveCount(0);
  await expect(page.getByText('Written without a mouse').first()).toBeVisible();

  // The palette gives the focus back, and leads to a place.
  const search = page.getByRole('button', { name: /^Search or jump to/ });
  await search.focus();
  await press('Enter');
  await expect(sheet(page).getByRole('combobox')).toBeFocused();
  await press('Escape');
  await expect(search).toBeFocused();
  await press('Control+k');
  await expect(sheet(page).getByRole('combobox')).toBeFocused();
  await page.keyboard.type('Experiments');
  await expect(sheet(page).getByRole('option', { name: /^Experiments/ })).toBeVisible();
  await press('Enter');
  await expect(page).toHaveURL(/#\/experiments/);

  // Another theme.
  await press('g', ',');
  await page.getByRole('radiogroup', { name: 'Theme' }).getByRole('radio', { checked: true }).focus();
  await press('ArrowRight', 'ArrowRight');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});
