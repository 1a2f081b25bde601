import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/e2e.js';
import type { Machine } from '../../support/machine.js';
import { transcript } from '../../support/transcript.js';
import { commits, complaints, sheet } from '../../support/window.js';

/** A project with this history, and the page that its last tip leaves as. */
async function exported(machine: Machine, name: string, turns: Parameters<typeof transcript>[1], ...words: string[]): Promise<string> {
  const file = machine.path('work', `${name}.jsonl`);
  writeFileSync(file, transcript(name, turns));
  await machine.run('init', 'work.stemma');
  const { tips } = JSON.parse((await machine.run('import', file, '--json')).out) as { tips: string[] };
  const page = machine.path('work', `${name}.html`);
  const ran = await machine.run('export', tips.at(-1) ?? '', '-o', page, '--stop', 'root', ...words);
  expect(ran.err).not.toContain('refused');
  expect(ran.code).toBe(0);
  return pathToFileURL(page).href;
}
const articles = (page: Page) => page.locator('main article:visible');
const place = (page: Page) => page.locator('footer output');

test('[F31] a page made of hostile text shows it, runs none of it and asks nobody', async ({ page, context, machine }) => {
  const asked: string[] = [];
  const trap = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
  const bait = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`;
  const attacks = [
    `</script><script>globalThis.ran = 'script'</script><script src="${bait}/script"></script>`,
    `<!--<script>globalThis.ran = 'comment'`,
    `</title></style><img src="${bait}/img" onerror="globalThis.ran = 'img'"><link rel="stylesheet" href="${bait}/style">`,
    `![a picture](${bait}/picture) [click me](javascript:globalThis.ran='link') [the web](${bait}/link) [data](data:text/html,<script>1</script>)`,
    `\`\`\`html\n<svg onload="globalThis.ran = 'svg'"><image href="${bait}/svg" /></svg>\n\`\`\``,
    '| a | b |\n|---|---|\n| <b onclick="globalThis.ran=1">x</b> | [y](vbscript:1) |',
    'half a character: \ud83d! and \udc00!',
  ];
  const met = complaints(page);
  const url = await exported(machine, 'hostile', [{ prompt: attacks[0] ?? '', answers: attacks }]);
  await page.goto(url);
  await expect(articles(page)).toHaveCount(attacks.length + 1);
  const said = page.getByRole('main', { name: 'Entries' });
  await expect(said).toContainText("</script><script>globalThis.ran = 'script'</script>");
  await expect(said).toContainText('click me (javascript:globalThis.ran=');
  await expect(said).toContainText('half a character: ');
  await expect(page).toHaveTitle(/<\/script>/);
  // Of all that looks like a link one is: that to the web, and it says where it leads.
  const links = said.locator('.said a');
  expect(await links.evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).protocol))).toEqual(expect.arrayContaining(['http:']));
  expect(await links.evaluateAll((all) => all.filter((one) => !/^https?:$/.test((one as HTMLAnchorElement).protocol)).length)).toBe(0);
  await expect(said.getByRole('link', { name: 'the web' })).toHaveAttribute('rel', /noopener noreferrer/);
  await page.keyboard.press('/');
  await page.keyboard.type('globalThis.ran');
  await expect(page.locator('header output')).toHaveText(/of \d/);

  // Not even a script of the page itself could make markup of a text, or one that came in by other ways could run.
  const refused = await page.evaluate(() => {
    try {
      document.createElement('div').innerHTML = '<b>x</b>';
      return false;
    } catch {
      return true;
    }
  });
  expect(refused).toBe(true);
  expect(asked).toEqual([]);
  expect(await page.evaluate(() => (globalThis as { ran?: string }).ran)).toBeUndefined();
  expect(context.pages()).toHaveLength(1);
  expect(met.filter((one) => !one.includes('TrustedHTML'))).toEqual([]);
  trap.close();
});

test('[F31] replay: a page plays entry by entry, by keys and by its scale, and shows all again', async ({ page, machine }) => {
  const turns = Array.from({ length: 30 }, (_, at) => ({ prompt: `Question ${at}`, answers: [`Answer ${at}`, `And more of ${at}`] }));
  const url = await exported(machine, 'played', turns);
  const met = complaints(page);
  await page.goto(url);
  await expect(place(page)).toContainText('1 of 90');
  await page.keyboard.press('End');
  await expect(place(page)).toContainText('90 of 90');
  await expect(page.getByText('And more of 29')).toBeInViewport();
  await page.keyboard.press('[');
  await expect(place(page)).toContainText('88 of 90');
  await page.keyboard.press('Home');

  await page.getByLabel('Speed').selectOption('20');
  await page.getByRole('button', { name: 'Play' }).click();
  await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible();
  await expect(place(page)).not.toContainText(/^[123] of/);
  await page.getByRole('button', { name: 'Pause' }).click();
  const shown = await articles(page).count();
  expect(shown).toBe(Number(/^\d+/.exec(await place(page).innerText())?.[0]));
  await page.keyboard.press('ArrowRight');
  await expect(articles(page)).toHaveCount(shown + 1);
  await page.keyboard.press('ArrowLeft');
  await expect(articles(page)).toHaveCount(shown);
  await page.getByRole('slider').fill('9');
  await expect(articles(page)).toHaveCount(10);
  await page.keyboard.press('a');
  await expect(page.getByRole('button', { name: 'Show all' })).toBeHidden();
  expect(met).toEqual([]);
});

test('[F31] an entry has an address, and words are found wherever they stand', async ({ page, machine }) => {
  const turns = Array.from({ length: 400 }, (_, at) => ({ prompt: `Question ${at}`, answers: [`Answer ${at} ${'and so on '.repeat(40)}`] }));
  turns[333]?.answers.push('the needle in the hay');
  const url = await exported(machine, 'long', turns);
  await page.goto(url);
  // Only what is near is set: a page of any length opens alike.
  await expect(articles(page).first()).toBeVisible();
  expect(await page.locator('main article').count()).toBeLessThan(400);
  await page.keyboard.press('/');
  await page.keyboard.type('the NEEDLE in');
  await expect(page.locator('header output')).toHaveText('1 of 1');
  await expect(page.getByText('the needle in the hay')).toBeInViewport();
  const address = page.url();
  expect(address).toContain('#');
  await page.goto('about:blank');
  await page.goto(address);
  await expect(page.getByText('the needle in the hay')).toBeInViewport();
  await page.getByRole('navigation', { name: 'Outline' }).getByText('Question 12', { exact: true }).click();
  await expect(page.getByText('Answer 12 and so on')).toBeInViewport();
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(ground).toBe(scheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 21, 24)');
  }
});

test('[F30] a page without secrets holds none of them, in its text or behind it', async ({ page, machine }) => {
  const token = `ghp_${'16C7e42F292c6912E7710c838347Ae178B4a'}`;
  const url = await exported(
    machine,
    'secret',
    [{ prompt: `use ${token} of ada@example.org`, answers: [`I use ${token} in /home/ada/x`] }],
    '--redact',
  );
  await page.goto(url);
  await expect(articles(page).first()).toContainText('use [secret-1] of [email-1]');
  const whole = await page.content();
  for (const one of [token, 'ada@example', '/home/ada']) expect(whole).not.toContain(one);
});

test('[F32] the sheet says what each form leaves out, shows what is taken out before it writes, and writes the page', async ({ page, machine }) => {
  const { url } = await machine.web(machine.giveHistory());
  await page.goto(url);
  await expect(commits(page).first()).toBeVisible();
  await commits(page).first().click();
  await page.getByRole('listbox', { name: 'Commits, newest first' }).press('e');
  await expect(sheet(page).getByRole('radio', { name: /Claude Code session/ })).toBeChecked();
  await expect(sheet(page)).toContainText('nothing is lost');
  await sheet(page)
    .getByRole('radio', { name: /OpenAI chat/ })
    .check();
  await expect(sheet(page)).toContainText(/Leaves out: thinking \(\d+\)/);
  await sheet(page)
    .getByRole('radio', { name: /Web page/ })
    .check();
  await sheet(page)
    .getByRole('checkbox', { name: /Take out secrets/ })
    .check();
  await expect(sheet(page).getByRole('list', { name: 'What is taken out' })).toContainText(/\[path-1\]\s*home folder, \d+ times/);
  const file = machine.path('work', 'out.html');
  await sheet(page).getByLabel('Path of the new file').fill(file);
  await sheet(page).getByRole('button', { name: 'Write the file' }).click();
  await expect(sheet(page)).toContainText('of Web page, rendered for reading');
  expect(readFileSync(file, 'utf8')).not.toContain('/home/sam');
  await sheet(page).getByRole('button', { name: 'Write the file' }).click();
  await expect(sheet(page).getByRole('alert')).toContainText('is there already');
});
