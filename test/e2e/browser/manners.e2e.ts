import { writeFileSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/e2e.js';
import { transcript } from '../../support/transcript.js';
import { commits, entries, openContext, sheet } from '../../support/window.js';

/** Rules of accessibility that the window breaks, with the places, in words. */
async function barriers(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']).analyze();
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map((node) => node.html.slice(0, 160))
        .join(' | ')}`,
  );
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every view can be used by everybody, ${colorScheme}`, async ({ page, machine }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    machine.giveHistory();
    const { url } = await machine.web();
    await page.goto(url);
    await expect(page.getByRole('tree', { name: 'Sessions found on this machine' })).toBeVisible();
    expect(await barriers(page), 'library').toEqual([]);
    await page.getByRole('button', { name: 'Import all' }).click();
    const fixed = page.getByRole('option', { name: /^Fix it, please/ });
    await fixed.click();
    expect(await barriers(page), 'chain').toEqual([]);
    await openContext(page, fixed);
    await expect(entries(page)).toHaveAttribute('aria-busy', 'false');
    expect(await barriers(page), 'context').toEqual([]);
    await page.keyboard.press('f');
    await expect(sheet(page)).toBeVisible();
    expect(await barriers(page), 'fork').toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('e');
    await expect(sheet(page)).toBeVisible();
    expect(await barriers(page), 'export').toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await expect(sheet(page)).toBeVisible();
    expect(await barriers(page), 'keys').toEqual([]);
  });
}

test('nothing needs a mouse: from the library to a fork by keys alone', async ({ page, machine }) => {
  machine.giveHistory();
  const { url } = await machine.web();
  await page.goto(url);
  const tree = page.getByRole('tree', { name: 'Sessions found on this machine' });
  await expect(tree).toBeVisible();
  await tree.focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
  await page.keyboard.press('Enter');
  await expect(commits(page).first()).toBeVisible();
  await page.getByRole('listbox', { name: 'Commits, newest first' }).focus();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(entries(page)).toBeFocused();
  await page.keyboard.press('j');
  await page.keyboard.press('f');
  await expect(sheet(page)).toContainText('Stays');
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await expect(commits(page).first()).toBeVisible();
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('combobox').or(page.getByRole('dialog')).first()).toBeVisible();
});

test('a session of 20,000 entries opens and scrolls, with few of them drawn at a time', async ({ page, machine }) => {
  const turns = Array.from({ length: 2_000 }, (_, turn) => ({
    prompt: `Question ${turn}`,
    answers: Array.from({ length: 9 }, (_, part) => `Answer ${part} of turn ${turn}: ${'words '.repeat(12)}`),
  }));
  const file = machine.path('work', 'long.jsonl');
  writeFileSync(file, transcript('long', turns));
  const { url } = await machine.web(file);
  await page.goto(url);
  await expect(commits(page).first()).toBeVisible();
  await openContext(page, page.getByRole('option', { name: /^Question 1999/ }));
  await expect(page.getByText(/20,000 entries/).first()).toBeVisible();
  for (const [place, words] of [
    ['end', 'Answer 8 of turn 1999'],
    ['start', 'Question 0'],
    ['end', 'Answer 8 of turn 1999'],
  ] as const) {
    await entries(page).evaluate((list, to) => list.scrollTo({ top: to === 'end' ? list.scrollHeight : 0 }), place);
    await expect(async () => {
      await entries(page).evaluate((list, to) => list.scrollTo({ top: to === 'end' ? list.scrollHeight : 0 }), place);
      await expect(entries(page).getByText(words).first()).toBeInViewport({ timeout: 500 });
    }).toPass();
    expect(await entries(page).getByRole('article').count()).toBeLessThan(100);
  }
});

test('a chain that is too long to be read in full is walked to its first commit and back', async ({ page, machine }) => {
  const file = machine.path('work', 'endless.jsonl');
  writeFileSync(
    file,
    transcript(
      'endless',
      Array.from({ length: 20_100 }, (_, turn) => ({ prompt: `Question ${turn}`, answers: ['Yes.'] })),
    ),
  );
  const { url } = await machine.web(file);
  await page.goto(url);
  await expect(page.getByText('20,100 commits').first()).toBeVisible();
  const list = page.getByRole('listbox', { name: 'Commits, newest first' });
  await list.press('End');
  await expect(list.getByRole('option', { name: /^Question 0 / })).toBeInViewport();
  await expect(list.getByRole('option', { name: /^Question 0 / })).toHaveAttribute('aria-selected', 'true');
  // In the middle, where no page was read before.
  await list.evaluate((element) => element.scrollTo({ top: element.scrollHeight / 2 }));
  await expect(list.getByRole('option', { name: /^Question 10040 / })).toBeInViewport();
  await list.press('Home');
  await expect(list.getByRole('option', { name: /^Question 20099 / })).toHaveAttribute('aria-selected', 'true');
});

test('panes come and go beside the view, by button, key or a narrower window: what is read stays where it was', async ({ page, machine }) => {
  const turns = Array.from({ length: 60 }, (_, turn) => ({ prompt: `Question ${turn}`, answers: [`Answer ${turn}`] }));
  const file = machine.path('work', 'panes.jsonl');
  writeFileSync(file, transcript('panes', turns));
  const { url } = await machine.web(file);
  await page.goto(url);
  await openContext(page, page.getByRole('option', { name: /^Question 59/ }));
  await entries(page).evaluate((list) => list.scrollTo({ top: 0 }));
  const first = entries(page).getByText('Question 0', { exact: true });
  await expect(first).toBeInViewport();
  // What was typed is of this very view: one that was built anew would have forgotten it.
  await page.keyboard.press('Control+f');
  const find = page.getByRole('textbox', { name: 'Find in this context' });
  await find.fill('Question');
  const stays = async (): Promise<void> => {
    await expect(first).toBeInViewport();
    await expect(find).toHaveValue('Question');
  };

  const sessions = page.getByRole('region', { name: 'Library' });
  const inspector = page.getByRole('region', { name: 'Inspector' });
  const line = page.getByRole('separator', { name: 'Width of the left pane' });
  const { x, y } = (await line.boundingBox()) ?? { x: 0, y: 0 };
  await page.mouse.move(x, y + 200);
  await page.mouse.down();
  await page.mouse.move(x + 60, y + 200, { steps: 4 });
  await page.mouse.up();
  const width = (await sessions.boundingBox())?.width;
  expect(width).toBeGreaterThan(280);

  await page.keyboard.press('Control+j');
  await expect(inspector).toBeHidden();
  await stays();
  expect((await sessions.boundingBox())?.width).toBe(width);
  await page.setViewportSize({ width: 700, height: 900 });
  await expect(sessions).toBeHidden();
  await stays();
  // There the panes are drawers, and the same keys bring them.
  await page.keyboard.press('Control+b');
  await expect(sessions).toBeVisible();
  await page.keyboard.press('Control+j');
  await expect(sessions).toBeHidden();
  await expect(inspector).toBeVisible();
  await page.keyboard.press('Control+j');
  await page.setViewportSize({ width: 1440, height: 900 });
  await expect(sessions).toBeVisible();
  await expect(inspector).toBeHidden();
  await stays();
  expect((await sessions.boundingBox())?.width).toBe(width);

  // Where there is room for one of them, it is what is selected that stays beside the view.
  await page.keyboard.press('Control+j');
  await page.setViewportSize({ width: 1024, height: 900 });
  await expect(sessions).toBeHidden();
  await expect(inspector).toBeVisible();
  await stays();
  await page.keyboard.press('Control+b');
  await expect(sessions).toBeVisible();
  await expect(inspector).toBeVisible();
});

test('an address that names what is not here says so, and leads on', async ({ page, machine }) => {
  machine.giveHistory();
  const { url, origin } = await machine.web();
  await page.goto(url);
  await page.getByRole('button', { name: 'Import all' }).click();
  await expect(commits(page).first()).toBeVisible();
  const project = new URLSearchParams(page.url().split('?')[1]).get('project') ?? '';
  const open = async (view: string, more = '', dir = project) => {
    await page.goto('about:blank');
    await page.goto(`${origin}/#/${view}?project=${encodeURIComponent(dir)}${more}`);
  };
  const center = page.getByRole('tabpanel');
  for (const view of ['context', 'request', 'replay', 'run', 'compose', 'timeline']) {
    await open(view, '&commit=ctx-00000000');
    await expect(center.getByRole('alert'), view).toContainText('ctx-00000000');
    await expect(center.getByRole('button', { name: /^Choose a/ }), view).toBeVisible();
  }
  await center.getByRole('button', { name: /^Choose a/ }).click();
  await expect(commits(page).first()).toBeVisible();
  await open('experiments', '&experiment=none');
  await center.getByRole('button', { name: 'All experiments' }).click();
  await expect(center).toContainText('No experiments yet');
  // A project that is not there has no panes beside it.
  await open('chain', '', '/nowhere.stemma');
  await expect(center.getByRole('alert')).toContainText('/nowhere.stemma');
  await expect(page.getByRole('region', { name: 'Inspector' })).toBeHidden();
  await center.getByRole('button', { name: 'Library' }).click();
  await expect(page.getByRole('tree', { name: 'Sessions found on this machine' })).toBeVisible();
});

test('what is drawn by hand takes on the theme of the system when that changes', async ({ page, machine }) => {
  machine.giveHistory();
  const { url } = await machine.web();
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(url);
  await page.getByRole('button', { name: 'Import all' }).click();
  await openContext(page, page.getByRole('option', { name: /^Fix it, please/ }));
  const bar = page.getByRole('slider', { name: 'Tokens of the context, entry by entry' }).first();
  const drawn = () => bar.evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
  const light = await drawn();
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(drawn).not.toBe(light);
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(drawn).toBe(light);
});

test('back, forward, reload and a copied address lead to the same place', async ({ page, machine }) => {
  machine.giveHistory();
  const { url } = await machine.web();
  await page.goto(url);
  await page.getByRole('button', { name: 'Import all' }).click();
  await openContext(page, page.getByRole('option', { name: /^Fix it, please/ }));
  const address = page.url();
  await page.goBack();
  await expect(commits(page).first()).toBeVisible();
  await page.goForward();
  await expect(entries(page)).toBeVisible();
  await page.reload();
  await expect(entries(page).getByText('Fix it, please. Test first.').first()).toBeVisible();
  const other = await page.context().newPage();
  await other.goto(address);
  await expect(entries(other).getByText('Fix it, please. Test first.').first()).toBeVisible();
});

test('nobody starts at an empty page: a view without a commit shows the newest, and the library knows what is imported', async ({
  page,
  machine,
}) => {
  machine.giveHistory();
  const { url } = await machine.web();
  await page.goto(url);
  await page.getByRole('button', { name: 'Import all' }).click();
  await expect(commits(page).first()).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('tab', { name: 'Library' }).click();
  await page.getByRole('button', { name: /files? imported/ }).click();
  const held = page.getByRole('tree', { name: 'Sessions of the open project' });
  await held.getByRole('button', { name: 'Open' }).first().click();
  await expect(commits(page).first()).toBeVisible();
  expect(await barriers(page), 'chain from the library').toEqual([]);
});
