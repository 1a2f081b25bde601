import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '../../support/e2e.js';
import { transcript } from '../../support/transcript.js';
import { commits, complaints, entries, openContext, sheet } from '../../support/window.js';

test('content of a transcript is shown, never run, loaded or followed', async ({ page, context, machine }) => {
  const asked: string[] = [];
  const trap = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('access-control-allow-origin', '*');
    response.end();
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
  const bait = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`;
  const markup = [
    `<img src="${bait}/img" onerror="globalThis.ran = 'img'">`,
    `<script>globalThis.ran = 'script'</script><script src="${bait}/script"></script>`,
    `<iframe src="${bait}/frame" srcdoc="<script>parent.ran = 'frame'</script>"></iframe><link rel="stylesheet" href="${bait}/style">`,
    `<svg onload="globalThis.ran = 'svg'"><image href="${bait}/svg" /></svg><style>@import url(${bait}/import); body { background: url(${bait}/background) }</style>`,
    `![a picture](${bait}/markdown) and [click me](javascript:globalThis.ran='link') and [the web](${bait}/link) and ${bait}/bare`,
    '[a file](file:///etc/passwd) and [data](data:text/html,<script>parent.ran=1</script>)',
    `\`\`\`html\n<img src="${bait}/code" onerror="globalThis.ran = 'code'">\n\`\`\``,
  ];
  const file = machine.path('work', '<img src=x onerror=alert(1)>.jsonl');
  writeFileSync(file, transcript('hostile', [{ prompt: `${markup[0]} ../../../etc/passwd`, answers: markup }]));

  const met = complaints(page);
  const { url, origin } = await machine.web(file);
  await page.goto(url);
  await expect(commits(page).first()).toBeVisible();
  await openContext(page, commits(page).first());
  await expect(entries(page).getByText('a picture')).toBeVisible();
  await expect(entries(page)).toContainText(`<iframe src="${bait}/frame"`);

  // A link asks first and shows its full address. An address outside the web never opens.
  await entries(page).getByRole('button', { name: 'click me' }).click();
  await expect(sheet(page)).toContainText("javascript:globalThis.ran='link'");
  await expect(sheet(page).getByRole('button', { name: /^Open / })).toHaveCount(0);
  await page.keyboard.press('Escape');
  await entries(page).getByRole('button', { name: 'the web' }).click();
  await expect(sheet(page)).toContainText(`${bait}/link`);
  await page.keyboard.press('Escape');

  expect(asked).toEqual([]);
  expect(await page.evaluate(() => (globalThis as { ran?: string }).ran)).toBeUndefined();
  expect(context.pages()).toHaveLength(1);
  expect(page.url().startsWith(origin)).toBe(true);
  expect(met).toEqual([]);
  trap.close();
});

test('words without spaces break, and paragraphs run in the direction of their language', async ({ page, machine }) => {
  const file = machine.path('work', 'words.jsonl');
  writeFileSync(file, transcript('words', [{ prompt: 'لماذا لا يعمل src/main.ts اليوم', answers: ['w'.repeat(900)] }]));
  const { url } = await machine.web(file);
  await page.goto(url);
  await openContext(page, commits(page).first());
  const ends = await entries(page)
    .getByRole('article')
    .first()
    .locator('p')
    .evaluate((paragraph) => {
      const text = paragraph.firstChild as Text;
      const at = (from: number): number => {
        const range = document.createRange();
        range.setStart(text, from);
        range.setEnd(text, from + 1);
        return range.getBoundingClientRect().left;
      };
      return { first: at(0), last: at(text.length - 1) };
    });
  expect(ends.first).toBeGreaterThan(ends.last);
  const reply = page.getByRole('region', { name: 'Inspector' }).getByText(/^w{100,}/);
  await expect(reply).toBeVisible();
  expect(await reply.evaluate((words) => words.scrollWidth - words.clientWidth)).toBe(0);
});

test('broken files are named with path and line, and their intact lines are imported', { tag: '@long' }, async ({ page, machine }) => {
  const sound = transcript('broken', [
    { prompt: 'The first question', answers: ['The first answer'] },
    { prompt: 'The second question', answers: ['The second answer'] },
  ]);
  const [first = '', second = '', ...rest] = sound.split('\n');
  const file = machine.path('work', 'broken.jsonl');
  writeFileSync(file, [first, 'this is no JSON', second, ...rest.slice(0, -1), '{"type":"user","uuid":"half a li'].join('\n'));
  const { url } = await machine.web(file);
  await page.goto(url);
  await expect(page.getByRole('option', { name: /^The second question/ })).toBeVisible();
  await page
    .getByRole('button', { name: /imports/i })
    .first()
    .click();
  await expect(sheet(page)).toContainText('broken.jsonl:2');
});
