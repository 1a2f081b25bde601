import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from '@playwright/test';
import { expect, test } from '../../support/e2e.js';
import type { Machine } from '../../support/machine.js';
import { commits, complaints, entries } from '../../support/window.js';

const session = '5e551011-3333-4111-8111-111111111111';

/** A Claude Code session that a test writes turn by turn, like the agent. */
function sessionOf(machine: Machine): { turn(n: number): void; open(n: number): void; path: string } {
  const folder = join(machine.claude, 'projects', '-work-shop');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${session}.jsonl`);
  const line = (type: string, uuid: string, parentUuid: string | null, message: object): string =>
    `${JSON.stringify({ parentUuid, isSidechain: false, cwd: '/work/shop', sessionId: session, type, message, uuid, timestamp: new Date().toISOString() })}\n`;
  const said = (n: number, stop_reason: string, content: unknown): object => ({ id: `m${n}`, role: 'assistant', model: 'm', stop_reason, content });
  return {
    path,
    turn: (n) =>
      appendFileSync(
        path,
        line('user', `u${n}`, n === 1 ? null : `a${n - 1}`, { role: 'user', content: `Question number ${n}` }) +
          line(
            'assistant',
            `a${n}`,
            `u${n}`,
            said(n, 'end_turn', [{ type: 'text', text: `Answer number ${n}.\n\n${'A line of it.\n\n'.repeat(12)}` }]),
          ),
      ),
    open: (n) =>
      appendFileSync(
        path,
        line('user', `u${n}`, `a${n - 1}`, { role: 'user', content: `Question number ${n}` }) +
          line('assistant', `a${n}`, `u${n}`, said(n, 'tool_use', [{ type: 'tool_use', id: `t${n}`, name: 'Bash', input: { command: 'make' } }])),
      ),
  };
}

const scrollOf = (list: Locator): Promise<number> => list.evaluate((element) => element.scrollTop);

test('[L7] new turns appear in chain and context without moving the reading position', { tag: '@long' }, async ({ page, machine }) => {
  const met = complaints(page);
  const agent = sessionOf(machine);
  for (let n = 1; n <= 25; n++) agent.turn(n);
  const dir = machine.path('work', 'shop.stemma');
  await machine.ask('init', dir);
  await machine.ask('import', agent.path);
  const { url } = await machine.web(dir);
  await page.setViewportSize({ width: 1280, height: 560 });
  await page.goto(url);
  await expect(commits(page).first()).toContainText('Question number 25');

  // Capture starts from the rail, which shows its state.
  const control = page.getByRole('button', { name: /^Live capture: / });
  await expect(control).toHaveAccessibleName('Live capture: off');
  await control.click();
  const card = page.getByRole('dialog', { name: 'Live capture' });
  await card.getByRole('button', { name: 'Start' }).click();
  await expect(card).toContainText('Live capture is on');
  await expect(card).toContainText(join(machine.claude, 'projects'));
  await page.keyboard.press('Escape');
  await expect(control).toHaveAccessibleName('Live capture: on');

  // At the start of the list, new commits appear.
  agent.turn(26);
  await expect(commits(page).first()).toContainText('Question number 26');
  await expect(page.getByRole('contentinfo')).toContainText('26 commits');

  // Further down, reading position and selection stay.
  const list = page.getByRole('listbox', { name: 'Commits, newest first' });
  const chosen = page.getByRole('option', { name: /^Question number 9 / });
  await chosen.scrollIntoViewIfNeeded();
  await chosen.click();
  await list.evaluate((element) => element.scrollTo({ top: 150 }));
  await expect.poll(() => scrollOf(list)).toBe(150);
  const before = (await chosen.boundingBox())?.y;
  agent.turn(27);
  await expect(page.getByRole('contentinfo')).toContainText('27 commits');
  await expect.poll(() => scrollOf(list)).toBeGreaterThan(150);
  await expect.poll(async () => (await chosen.boundingBox())?.y).toBe(before);
  await expect(chosen).toHaveAttribute('aria-selected', 'true');

  // An unfinished turn is not a commit; the card shows it.
  agent.open(28);
  await control.click();
  await expect(card).toContainText('/work/shop');
  await expect(card).toContainText('turn in progress');
  await expect(page.getByRole('contentinfo')).toContainText('27 commits');
  // A person can store it up to now.
  await card.getByRole('button', { name: 'Checkpoint now' }).click();
  await expect(page.getByRole('contentinfo')).toContainText('28 commits');
  await page.keyboard.press('Escape');
  expect(met).toEqual([]);
});

test('[L7] the context announces new turns of its branch, and shows them when following', { tag: '@long' }, async ({ page, machine }) => {
  const met = complaints(page);
  const agent = sessionOf(machine);
  for (let n = 1; n <= 4; n++) agent.turn(n);
  const dir = machine.path('work', 'shop.stemma');
  await machine.ask('init', dir);
  await machine.ask('import', agent.path);
  await machine.ask('call', 'capture.watch', '--input', '{"remember":true}');
  const { url } = await machine.web(dir);
  await page.goto(url);
  await commits(page).first().click();
  await page.getByRole('listbox', { name: 'Commits, newest first' }).press('Enter');
  await expect(entries(page)).toContainText('Question number 4');
  const address = page.url();

  // Live capture records the new turn.
  agent.turn(5);
  await expect(page.getByText('1 newer commit on this branch')).toBeVisible();
  expect(page.url()).toBe(address);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await expect(entries(page)).toContainText('Question number 5');
  await expect(page.getByText('1 newer commit on this branch')).toBeHidden();

  agent.turn(6);
  await page.getByRole('checkbox', { name: 'Follow' }).check();
  // The end moves while what is near it is drawn.
  await expect(async () => {
    await entries(page).evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
    await expect(entries(page)).toContainText('Question number 6', { timeout: 1_000 });
    expect(await entries(page).evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight)).toBeLessThanOrEqual(1);
  }).toPass();
  agent.turn(7);
  await expect(entries(page)).toContainText('Answer number 7');

  // After scrolling back, the position stays.
  await entries(page).evaluate((element) => element.scrollTo({ top: 0 }));
  agent.turn(8);
  await expect(page.getByText('1 newer commit on this branch')).toBeVisible();
  expect(await scrollOf(entries(page))).toBe(0);
  expect(met).toEqual([]);
});

test('live capture continues when the project is opened again', { tag: '@long' }, async ({ page, machine }) => {
  const agent = sessionOf(machine);
  writeFileSync(agent.path, '');
  const dir = machine.path('work', 'shop.stemma');
  await machine.ask('init', dir);
  await machine.ask('call', 'capture.watch', '--input', '{"remember":true}');
  const { url } = await machine.web(dir);
  await page.goto(url);
  await expect(page.getByRole('button', { name: 'Live capture: on' })).toBeVisible();
  agent.turn(1);
  await expect(page.getByRole('contentinfo')).toContainText('1 commit');
});
