import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { lastingViolations } from '../../support/axe.js';
import { expect, test } from '../../support/e2e.js';
import { giveProject } from '../../support/prepared.js';
import { themes } from '../../support/views.js';
import { entries } from '../../support/window.js';

test('[W41][W47] an edited prompt survives Escape, reload and restart, then runs', { tag: '@long' }, async ({ page, machine }) => {
  // A terminal that writes down what it was asked to run.
  const ran = machine.path('ran.txt');
  const terminal = machine.path('terminal.sh');
  writeFileSync(terminal, `#!/bin/sh\nprintf '%s\\n' "$@" > ${ran}\n`, { mode: 0o755 });
  Object.assign(machine.env, { DISPLAY: ':99', TERMINAL: terminal });
  const project = machine.path('drafts.stemma');
  machine.giveHistory();
  await giveProject(machine, 'Histories', project);
  const tips = JSON.parse((await machine.ask('call', 'context.tips', '--project', project, '--input', '{}')).out) as {
    id: string;
    summary?: string;
  }[];
  const tip = tips.find(({ summary }) => summary?.startsWith('Call it 1.2.1'));
  const address = (url: string) => `${url}#/context?project=${encodeURIComponent(project)}&commit=${tip?.id}`;

  const first = await machine.web(project);
  await page.goto(address(first.url));
  const block = entries(page).locator('.block', { hasText: 'Call it 1.2.1: nothing in it is new' });
  await block.hover();
  await block.getByRole('button', { name: 'Edit & fork' }).click();
  const field = page.getByRole('textbox', { name: 'Prompt' });
  await field.fill('Call it 1.3.0, and say why.');

  // The inspector shows what stays, what leaves, and the tokens before and after.
  const fork = page.getByRole('region', { name: 'Fork', exact: true });
  await expect(fork).toContainText('Stays 21 entries');
  await expect(fork).toContainText('Leaves 10 entries');
  await expect(fork).toContainText('Before5,730');
  await expect(fork).toContainText('After≈ 4,960Edit≈ +7');

  // Fork mode is readable in every theme.
  for (const { name, ...media } of themes) {
    await page.emulateMedia({ ...media, reducedMotion: 'reduce' });
    await expect(page.locator('html')).toHaveAttribute('data-theme', media.colorScheme);
    expect(await lastingViolations(page, name === 'light' ? {} : { only: 'colors' })).toEqual([]);
  }

  // Escape closes the editor and keeps the draft.
  await field.press('Escape');
  await expect(field).toHaveCount(0);
  await page.getByRole('button', { name: 'Continue the draft' }).click();
  await expect(field).toHaveValue('Call it 1.3.0, and say why.');

  // Navigation and a reload keep it.
  await page.evaluate(() => {
    location.hash = location.hash.replace('#/context', '#/chain');
  });
  await expect(field).toHaveCount(0);
  await page.goBack();
  await expect(field).toHaveValue('Call it 1.3.0, and say why.');
  await expect.poll(async () => (await machine.ask('call', 'library.drafts')).out).toContain('Call it 1.3.0, and say why.');
  await page.reload();
  await expect(field).toHaveValue('Call it 1.3.0, and say why.');

  // A restart of Stemma, at another port, keeps it.
  first.process.kill();
  const second = await machine.web(project);
  await page.goto(address(second.url));
  await expect(field).toHaveValue('Call it 1.3.0, and say why.');

  // The recorded folder does not exist here: the window asks for one.
  await page.getByRole('button', { name: 'Continue in Claude Code' }).click();
  await expect(page.getByText('does not exist on this machine')).toBeVisible();
  const work = machine.path('work', 'larder');
  mkdirSync(work, { recursive: true });
  await page.getByPlaceholder('/home/me/project').fill(work);
  await page.getByRole('button', { name: 'Continue in Claude Code' }).click();
  const question = page.getByRole('alertdialog', { name: 'Write this file?' });
  await question.getByRole('button', { name: 'Allow and write' }).click();
  await expect.poll(() => existsSync(ran)).toBe(true);
  expect(readFileSync(ran, 'utf8')).toMatch(new RegExp(`cd ${work} && claude --resume \\S+ 'Call it 1\\.3\\.0, and say why\\.'`));
  await expect(field).toHaveCount(0);
  const after = JSON.parse((await machine.ask('call', 'context.tips', '--project', project, '--input', '{}')).out) as { summary?: string }[];
  expect(after.map(({ summary }) => summary)).toContain('Call it 1.3.0, and say why.');
});
