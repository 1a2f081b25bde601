import { expect, test } from '../../support/e2e.js';
import { foreignProject, stateOf } from '../../support/foreign-project.js';
import { commits } from '../../support/window.js';

test('[T1, T2] the window reads a project of another machine and trusts it with one button', { tag: '@long' }, async ({ page, machine }) => {
  const dir = await foreignProject(machine, 'cloned', 'work.stemma');
  const before = stateOf(dir);
  const { url } = await machine.web(dir);
  await page.goto(url);
  const bar = page.getByRole('region', { name: 'Read-only project' });
  await expect(bar).toContainText('Until you trust it, nothing in it can be changed or run.');
  await expect(commits(page).first()).toBeVisible();
  expect(stateOf(dir)).toEqual(before);

  await bar.getByRole('button', { name: 'Trust this project' }).click();
  await expect(bar).toHaveCount(0);
  await expect(commits(page).first()).toBeVisible();
  await page.reload();
  await expect(commits(page).first()).toBeVisible();
  await expect(bar).toHaveCount(0);
});
