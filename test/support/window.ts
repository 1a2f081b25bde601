import { expect, type Locator, type Page } from '@playwright/test';
import type { Machine, WebHost } from './machine.js';
import type { SharedHost } from './shared-host.js';

/** Presses Enter in a field as an input method does to accept a character, once as every browser reports it and once as Safari does. */
export const composeIn = (field: Locator): Promise<void> =>
  field.evaluate((element) => {
    for (const how of [{ isComposing: true }, { keyCode: 229 }])
      element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...how }));
  });

/** Finds elements of the window by name and role, as a person does, never by class. */
export const commits = (page: Page): Locator => page.getByRole('listbox', { name: 'Commits, newest first' }).getByRole('option');
export const entries = (page: Page): Locator => page.getByRole('region', { name: 'Entries' });
export const sheet = (page: Page): Locator => page.getByRole('dialog');
/** The part of the window that shows the current view. */
export const view = (page: Page): Locator => page.getByRole('region', { name: 'View', exact: true });

/** The link to a place in the rail. */
export const place = (page: Page, name: string): Locator => page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name, exact: true });

/** Imports every history on this machine with the one button for all agents, and opens the chain. */
export async function importAll(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Import \d+ new$/ }).click();
  await expect(page.getByRole('button', { name: 'Up to date' })).toBeVisible();
  await place(page, 'Chain').click();
}

/** The number of rows, once it no longer changes. */
export async function settledCount(rows: Locator): Promise<number> {
  let count = -1;
  const change = async (): Promise<number> => {
    const before = count;
    count = await rows.count();
    return count - before;
  };
  await expect.poll(change, { intervals: [250] }).toBe(0);
  return count;
}

/** The rows of the list of sessions. */
export const sessionRow = (page: Page, name: RegExp | string): Locator => page.getByRole('treegrid', { name: 'Sessions' }).getByRole('row', { name });

/** Opens a view of the place Agents. */
export async function openAgents(page: Page, name: 'Jobs' | 'Spaces' | 'Handovers' | 'Boxes and cards' | 'Profiles' | 'Composition'): Promise<void> {
  await place(page, 'Agents').click();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
}

/** Opens a page of the settings. */
export async function openSettings(page: Page, name: string): Promise<void> {
  await place(page, 'Settings').click();
  await page.getByRole('navigation', { name: 'Pages of the settings' }).getByRole('link', { name, exact: true }).click();
}

/** Opens Run again for the selected commit. */
export async function openRunAgain(page: Page): Promise<void> {
  await page.keyboard.press('g');
  await page.keyboard.press('a');
}

/** Chooses from the project menu. */
export async function chooseProject(page: Page, item: string): Promise<void> {
  await page
    .getByRole('navigation', { name: 'Places' })
    .getByRole('button', { name: /Project:/ })
    .click();
  await page.getByRole('menuitem', { name: item }).click();
}

/** Confirms the path of a new file, which the window asks for before it first writes to a folder. */
export async function confirmWrite(page: Page, path: string): Promise<void> {
  const question = page.getByRole('alertdialog', { name: 'Write this file?' });
  await expect(question).toContainText(path);
  await question.getByRole('button', { name: 'Allow and write' }).click();
  await expect(question).toHaveCount(0);
}

/** Collects page errors, refused loads and console errors. */
export function complaints(page: Page): string[] {
  const met: string[] = [];
  page.on('pageerror', (error) => met.push(`page error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || /content security policy/i.test(message.text())) met.push(`console: ${message.text()}`);
  });
  return met;
}

/** All entry keys of the shown context, in order, by scrolling through the list. */
export async function shownKeys(page: Page): Promise<string[]> {
  const feed = entries(page);
  await expect(feed).toBeVisible();
  const keys: string[] = [];
  // An opened context first scrolls to the prompt of its turn, which may happen after the first scroll to the top.
  await expect(feed).toHaveAttribute('aria-busy', 'false');
  await expect
    .poll(() =>
      feed.evaluate(async (list) => {
        list.scrollTo({ top: 0 });
        await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
        return list.scrollTop;
      }),
    )
    .toBe(0);
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

/** Opens a commit's context from the chain by keyboard. */
export async function openContext(page: Page, commit: Locator): Promise<void> {
  await commit.click();
  await expect(commit).toHaveAttribute('aria-selected', 'true');
  // While rows arrive, the list may miss a key.
  const list = page.getByRole('listbox', { name: 'Commits, newest first' });
  await expect(async () => {
    if (await list.isVisible()) await list.press('Enter', { timeout: 2_000 });
    await expect(entries(page)).toBeVisible({ timeout: 5_000 });
  }).toPass();
}

/** Creates a project, and returns how to call the engine about it. */
export async function newProject({ origin, bearer }: WebHost, dir: string, name: string) {
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
  const ofProject = { ...headers, 'stemma-project': encodeURIComponent(dir) };
  const send = async (procedure: string, input: unknown, headers: Record<string, string>) => {
    const answer = await fetch(`${origin}/api/${procedure.replace('.', '/')}`, { method: 'POST', headers, body: JSON.stringify(input) });
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    return JSON.parse(text);
  };
  await send('project.create', { dir, name }, headers);
  return (procedure: string, input: unknown) => send(procedure, input, ofProject);
}

/**
 * The window on a new project without commits, and a way to call the engine beside it. Where the environment of the host does not matter,
 * the shared host shows it.
 */
export async function agentsWindow(page: Page, on: Machine | SharedHost) {
  const isShared = 'host' in on;
  const dir = isShared ? on.folder('agents') : on.path('agents.stemma');
  const host = isShared ? on.host : await on.web();
  const call = await newProject(host, dir, 'Agents');
  const address = `/chain?project=${encodeURIComponent(dir)}`;
  if (isShared) await on.show(page, address);
  else await page.goto(`${host.url}#${address}`);
  // A view that is chosen while the project opens would be left again.
  await expect(page.getByRole('navigation', { name: 'Places' }).getByRole('button', { name: 'Project: Agents' })).toBeVisible();
  return { dir, call };
}

/** Does the same in both themes, and leaves the light one. */
export async function bothThemes(page: Page, check: (theme: 'dark' | 'light') => Promise<void>): Promise<void> {
  for (const theme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await check(theme);
  }
}

/** The words in view that the window highlights as found, in lower case. */
export const highlightedWords = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...(CSS.highlights.get('found-here') ?? [])].flatMap((range) => {
      const box = (range as Range).getBoundingClientRect();
      return box.height > 0 && box.top > 0 && box.bottom < innerHeight ? [String(range).toLowerCase()] : [];
    }),
  );
