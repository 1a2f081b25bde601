import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import type { Page } from '@playwright/test';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { expect, test } from '../../support/e2e.js';
import type { Machine } from '../../support/machine.js';
import { transcript } from '../../support/transcript.js';
import { commits, complaints, confirmWrite, sheet } from '../../support/window.js';

/** A project with this history, and the exported page of its newest tip. */
async function exported(machine: Machine, name: string, turns: Parameters<typeof transcript>[1], ...words: string[]): Promise<string> {
  const file = machine.path('work', `${name}.jsonl`);
  writeFileSync(file, transcript(name, turns));
  await machine.ask('init', 'work.stemma');
  const { tips } = JSON.parse((await machine.ask('import', file, '--json')).out) as { tips: string[] };
  const page = machine.path('work', `${name}.html`);
  const ran = await machine.ask('export', tips.at(-1) ?? '', '-o', page, '--stop', 'root', ...words);
  expect(ran.err).not.toContain('refused');
  expect(ran.code).toBe(0);
  return pathToFileURL(page).href;
}
const articles = (page: Page) => page.locator('main article:visible');
const place = (page: Page) => page.locator('footer output');

test('[F31] [T65] a page of hostile text shows it, runs nothing and loads nothing', { tag: '@long' }, async ({ page, context, machine }) => {
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
  // Only the web address becomes a link, and it shows where it leads.
  const links = said.locator('.said a');
  expect(await links.evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).protocol))).toEqual(expect.arrayContaining(['http:']));
  expect(await links.evaluateAll((all) => all.filter((one) => !/^https?:$/.test((one as HTMLAnchorElement).protocol)).length)).toBe(0);
  await expect(said.getByRole('link', { name: 'the web' })).toHaveAttribute('rel', /noopener noreferrer/);
  await page.keyboard.press('/');
  await page.keyboard.type('globalThis.ran');
  await expect(page.locator('header output')).toHaveText(/of \d/);

  // Even a script in the page cannot turn text into markup, and an injected script does not run.
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

/** The tags of a rendered text without attributes, as one line. Headings and code are compared as the page draws them. */
const skeleton = (root: Element): string => {
  const tagsOf = (element: Element): string => {
    const tag = element.tagName
      .toLowerCase()
      .replace(/^h[12]$/, 'h3')
      .replace(/^h[56]$/, 'h4');
    if (tag === 'pre') return 'pre';
    const inside = [...element.children]
      .filter((child) => !child.classList.contains('target'))
      .map(tagsOf)
      .join(' ');
    return tag === 'span' ? inside : `${tag}(${inside})`;
  };
  return [...root.children].map(tagsOf).join(' ');
};

test('[F31] a page draws Markdown with the structure that the window gives it', { tag: '@long' }, async ({ page, context, machine }) => {
  const texts = [
    '- one\n  - two\n    - three\n      more of three\n- four',
    '1. first\n\n   ```js\n   const a = 1;\n\n   - not a list\n   ```\n\n   still first\n2. second\n   - below\n\n     ~~~\n     code\n     ~~~',
    '3. three\n4. four\n\n- [x] done\n- [ ] open',
    '> quoted\n> - a list\n>   - in it\n>\n> > twice',
    '| a | b |\n|---|--:|\n| `x \\| y` | **z** |\n\n# One\n\n#### Four\n\nSetext\n---',
    '*a* **b *c*** ~~d~~ `e` &amp; &copy; [f](https://example.org/f) https://example.org/g\\\nnext [h]\n\n[h]: https://example.org/h',
    'a list right after text:\n- one\n\n  loose\n- two\n\n***\n\n    indented code',
  ];
  const url = await exported(machine, 'structure', [{ prompt: 'Draw these', answers: texts }]);
  await page.goto(url);
  await expect(articles(page)).toHaveCount(texts.length + 1);
  const window = await context.newPage();
  for (const [at, text] of texts.entries()) {
    await window.setContent(renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins: [remarkGfm] }, text)));
    const drawn = await articles(page)
      .nth(at + 1)
      .locator('.said')
      .evaluate(skeleton);
    expect(drawn, text).toBe(await window.locator('body').evaluate(skeleton));
  }
  await expect(articles(page).nth(6)).toContainText('& ©');
  await expect(articles(page).nth(3).locator('ol')).toHaveAttribute('start', '3');
  await expect(articles(page).nth(3).locator('.task').first()).toHaveCSS('list-style-type', 'none');
  await expect(articles(page).nth(5).getByRole('cell').last()).toHaveCSS('text-align', 'right');
  await expect(page.locator('nav h2')).toHaveText('1 prompt');
});

test('[F31] a page replays entry by entry, by keys and by its slider', { tag: '@long' }, async ({ page, machine }) => {
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

  // At 20 times, a busy machine reaches the end before the click on Pause.
  await page.getByLabel('Speed').selectOption('2');
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

test('[F31] an entry has an address, and the search finds text anywhere', { tag: '@long' }, async ({ page, machine }) => {
  const turns = Array.from({ length: 400 }, (_, at) => ({ prompt: `Question ${at}`, answers: [`Answer ${at} ${'and so on '.repeat(40)}`] }));
  turns[333]?.answers.push('the needle in the hay');
  const url = await exported(machine, 'long', turns);
  await page.goto(url);
  // Only nearby entries are drawn, so long pages open quickly.
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

test('[F30] a redacted page contains no secrets, in its text or its data', { tag: '@long' }, async ({ page, machine }) => {
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

test('[T64] an exported Markdown document runs and loads nothing in a careless viewer', { tag: '@long' }, async ({ page, machine }) => {
  const asked: string[] = [];
  const trap = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
  const bait = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`;
  const attacks = [
    `<img src="${bait}/img" onerror="globalThis.ran = 'img'"><script>globalThis.ran = 'script'</script>`,
    `![x](${bait}/picture) [![x](${bait}/badge)](${bait}/link) [me](javascript:globalThis.ran='link')`,
    `<div>\n![x](${bait}/a)\n</div>\n\n![x][ref]\n\n[ref]: ${bait}/reference`,
    '```',
    `\`\`\`\n<img src="${bait}/turned">\n\`\`\``,
  ];
  const show = (markdown: string) =>
    page.setContent(
      micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true, allowDangerousProtocol: true }),
    );
  await exported(machine, 'hostile', [{ prompt: attacks[0] ?? '', answers: attacks }]);
  const [tip = ''] = /ctx-[0-9a-f]+/.exec((await machine.ask('log')).out) ?? [];
  const file = machine.path('work', 'out.md');
  expect(await machine.ask('export', tip, '-o', file, '--stop', 'root')).toMatchObject({ code: 0 });
  await show(readFileSync(file, 'utf8'));
  await expect(page.getByText('globalThis.ran', { exact: false }).first()).toBeVisible();
  await page.waitForTimeout(500);
  expect(asked).toEqual([]);
  expect(await page.evaluate(() => (globalThis as { ran?: string }).ran)).toBeUndefined();
  expect(await page.locator('a').evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).protocol))).not.toContain('javascript:');

  // The attacks do work where nothing neutralizes them.
  await show(attacks.slice(0, 3).join('\n\n'));
  await expect.poll(() => asked.length).toBeGreaterThan(3);
  trap.close();
});

test('[T66] the command line says that redaction knows patterns only', { tag: '@long' }, async ({ machine }) => {
  const turns = ['one', 'two'].map((name) => ({ prompt: `mail ${name}@example.org`, answers: ['I see'] }));
  await exported(machine, 'plain', turns);
  const [one = '', two = ''] = (await machine.ask('log')).out.match(/ctx-[0-9a-f]+/g) ?? [];
  for (const words of [
    ['export', one, '--redact', '-o', machine.path('work', 'a.md')],
    ['export', one, '--redact-ips', '--dry-run', '--to', 'markdown'],
    ['diff', one, two, '--redact', '-o', machine.path('work', 'b.md')],
  ])
    expect((await machine.ask(...words)).err, words.join(' ')).toContain('Only known patterns are replaced');
  for (const command of ['export', 'diff']) expect((await machine.ask(command, '--help')).out).toMatch(/secrets of known\s+patterns/);
});

test('[F32] [T66] the sheet names what each format leaves out and shows replacements first', { tag: '@long' }, async ({ page, machine }) => {
  const { url } = await machine.web(machine.giveHistory());
  await page.goto(url);
  await expect(commits(page).first()).toBeVisible();
  await commits(page).first().click();
  await page.getByRole('listbox', { name: 'Commits, newest first' }).press('e');
  await expect(sheet(page).getByRole('radio', { name: /Claude Code session/ })).toBeChecked();
  await expect(sheet(page)).toContainText('nothing is left out');
  await sheet(page)
    .getByRole('radio', { name: /OpenAI chat/ })
    .check();
  await expect(sheet(page)).toContainText(/Leaves out: thinking \(\d+\)/);
  await sheet(page)
    .getByRole('radio', { name: /Web page/ })
    .check();
  await sheet(page)
    .getByRole('checkbox', { name: /Replace known patterns/ })
    .check();
  await expect(sheet(page).getByRole('list', { name: 'Replacements' })).toContainText(/\[path-1\]\s*home folder, \d+ times/);
  const file = machine.path('work', 'out.html');
  await sheet(page).getByLabel('Path of the new file').fill(file);
  await sheet(page).getByRole('button', { name: 'Write file' }).click();
  await confirmWrite(page, file);
  await expect(sheet(page)).toContainText('of Web page, rendered for reading');
  expect(readFileSync(file, 'utf8')).not.toContain('/home/sam');
  await sheet(page).getByRole('button', { name: 'Write file' }).click();
  await expect(sheet(page).getByRole('alert')).toContainText('already exists');
});
