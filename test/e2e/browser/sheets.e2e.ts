import type { Page } from '@playwright/test';
import { lastingViolations } from '../../support/axe.js';
import { expect, test } from '../../support/e2e.js';
import { themes, toView, withSample } from '../../support/views.js';
import { sheet, view } from '../../support/window.js';

/** How to open each sheet: the address of the view, the button or menu that leads to it, and the item of the menu. */
const ways: readonly (readonly [address: string, button: string | RegExp, item?: string | RegExp])[] = [
  ...['Run here…', /^Fork…/, /^Export…/, 'Share a link…', /^Resume in /, 'Name this branch…', 'Compact in your own words…', 'Summarize…'].map(
    (item) => ['chain', 'More actions', item] as const,
  ),
  ...['Tags…', 'Keep its content…', 'Find a context by time…', 'Download an imported file…'].map((item) => ['chain', 'More actions', item] as const),
  ['sessions', /Project:/, 'New project…'],
  ['sessions', /Project:/, 'Open or import a path…'],
  ['run', 'Add to experiment…'],
  ['jobs', 'Run again…'],
  ['jobs&kinds=rules', 'Allow something to start'],
  ['timeline', 'Create a space'],
  ...['Delegate to an agent…', 'Fork and join several tasks…', 'Launch an agent…', 'Ask an expert…', 'Register an agent…'].map(
    (item) => ['handover', /^Hand over/, item] as const,
  ),
  ['handover&handovers=pack', 'Save…'],
  ['boxes', 'New', 'Card…'],
  ['boxes', 'New', 'Box…'],
  ['profiles', 'New profile'],
  ['profiles', 'Launch an agent…'],
  ['profiles', 'Allow to start…'],
  ['profiles', 'Edit…'],
  ['profiles&kinds=templates', 'Next version…'],
  ['profiles&kinds=templates', 'Start an agent…'],
  ['compose', 'Send…'],
  ['reviews', 'New ticket'],
  ['reviews', 'Import…'],
  ['settings&settings=storage', 'Shrink to a size…'],
  ['settings', 'Show'],
];

/** Opens a sheet with the keyboard alone, and returns the button that had the focus. */
async function open(page: Page, button: string | RegExp, item?: string | RegExp) {
  const opener = page.getByRole('button', { name: button, ...(typeof button === 'string' && { exact: true }) }).first();
  await opener.focus();
  await page.keyboard.press('Enter');
  if (item) {
    const choice = page.getByRole('menuitem', { name: item, ...(typeof item === 'string' && { exact: true }) });
    await choice.focus();
    await page.keyboard.press('Enter');
  }
  await expect(sheet(page), String(item ?? button)).toBeVisible();
  return opener;
}

for (const [half, some] of [
  ['first', ways.slice(0, ways.length / 2)],
  ['second', ways.slice(ways.length / 2)],
] as const)
  test(`[W47][W57] sheets work by keyboard and violate no accessibility rule, ${half} half`, { tag: '@long' }, async ({ page, shared }) => {
    const query = await withSample(page, shared);
    const found: Record<string, string[]> = {};
    for (const [address, button, item] of some) {
      await toView(page, query, address);
      const opener = await open(page, button, item);
      const name = `${address}: ${item ?? button}`;
      // High contrast is checked view by view: sheets have no colors of their own.
      for (const { name: theme, ...media } of themes.slice(0, 2)) {
        await page.emulateMedia({ ...media, reducedMotion: 'reduce' });
        await expect(page.locator('html')).toHaveAttribute('data-theme', media.colorScheme);
        const met = await lastingViolations(page, { part: '.sheet', ...(theme !== 'light' && { only: 'colors' as const }) });
        if (met.length > 0) found[`${name}, ${theme}`] = met;
      }
      // The focus is inside, never leaves by Tab, and returns to where it was. After the last field, it passes a guard that sends it back.
      for (let step = 0; step < 3; step += 1) {
        await page.keyboard.press('Tab');
        const isInside = () => sheet(page).evaluate((dialog) => dialog.contains(document.activeElement));
        await expect.poll(isInside, `${name}: the focus is in the sheet`).toBe(true);
      }
      await page.keyboard.press('Escape');
      await expect(sheet(page), name).toHaveCount(0);
      await expect(opener, name).toBeFocused();
      await expect(view(page)).not.toBeEmpty();
    }
    expect(found).toEqual({});
  });
