import { writeFileSync } from 'node:fs';
import { expectAccessible } from '../../support/axe.js';
import { expect, test } from '../../support/e2e.js';
import { transcript } from '../../support/transcript.js';
import { commits, entries, openContext, place, sessionRow, sheet, view } from '../../support/window.js';

test('from the sessions to a fork with the keyboard only, in accessible sheets', { tag: '@long' }, async ({ page, machine }) => {
  machine.giveHistory();
  const { url } = await machine.web();
  await page.goto(url);
  const list = page.getByRole('treegrid', { name: 'Sessions' });
  await expect(list).toBeVisible();
  await expectAccessible(page);
  await list.focus();
  for (const key of ['ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
  await page.keyboard.press('Enter');
  await expect(commits(page).first()).toBeVisible();
  await page.getByRole('listbox', { name: 'Commits, newest first' }).focus();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(entries(page)).toBeFocused();
  await expect(entries(page)).toHaveAttribute('aria-busy', 'false');
  await page.keyboard.press('j');
  await page.keyboard.press('f');
  await expect(sheet(page)).toContainText('Kept');
  await expectAccessible(page, '.sheet');
  await page.keyboard.press('Escape');
  await expect(entries(page)).toBeFocused();
  await page.keyboard.press('?');
  await expect(sheet(page)).toBeVisible();
  await expectAccessible(page, '.sheet');
  await page.keyboard.press('Escape');
  // Alone, `e` exports the context; after `g`, it belongs to the view that it opens.
  await expect(entries(page)).toBeFocused();
  await page.keyboard.press('e');
  await expect(sheet(page)).toBeVisible();
  await expectAccessible(page, '.sheet');
  await page.keyboard.press('Escape');
  await expect(entries(page)).toBeFocused();
  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await expect(page).toHaveURL(/#\/experiments/);
  await expect(sheet(page)).toHaveCount(0);
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await expect(commits(page).first()).toBeVisible();
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('combobox').or(page.getByRole('dialog')).first()).toBeVisible();
});

test('a session of 20,000 entries opens and scrolls, with few entries drawn', { tag: '@long' }, async ({ page, machine }) => {
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
  for (const [key, words] of [
    ['End', 'Answer 8 of turn 1999'],
    ['Home', 'Question 0'],
    ['End', 'Answer 8 of turn 1999'],
  ] as const) {
    await expect(async () => {
      await entries(page).press(key);
      await expect(entries(page).getByText(words).first()).toBeInViewport({ timeout: 500 });
    }).toPass();
    expect(await entries(page).getByRole('article').count()).toBeLessThan(100);
  }
});

test('[W49] a chain too long to load in full folds, filters, and scrolls to its ends', { tag: '@long' }, async ({ page, machine }) => {
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
  // The file is imported first, which takes a busy machine minutes.
  await expect(page.getByText('20,100 commits').first()).toBeVisible({ timeout: 240_000 });
  const list = page.getByRole('listbox', { name: 'Commits, newest first' });
  await expect(list.getByText('20,087 commits without branches')).toBeVisible();
  await page.getByRole('searchbox', { name: 'Filter commits' }).fill('Question 1234');
  await expect(page.getByText('11 of 20,100')).toBeVisible();
  await expect(list.getByRole('option', { name: /^Question 12345 / })).toBeVisible();
  await page.getByRole('searchbox', { name: 'Filter commits' }).fill('');
  await page.getByRole('button', { name: 'Unfold all' }).click();
  await expect(page.locator('.minimap canvas')).toBeVisible();
  await list.press('End');
  await expect(list.getByRole('option', { name: /^Question 0 / })).toBeInViewport();
  await expect(list.getByRole('option', { name: /^Question 0 / })).toHaveAttribute('aria-selected', 'true');
  // In the middle, where no page is loaded yet.
  await list.evaluate((element) => element.scrollTo({ top: element.scrollHeight / 2 }));
  await expect(list.getByRole('option', { name: /^Question 10040 / })).toBeInViewport();
  await list.press('Home');
  await expect(list.getByRole('option', { name: /^Question 20099 / })).toHaveAttribute('aria-selected', 'true');
});

test('showing and hiding panes keeps the state of the view', { tag: '@long' }, async ({ page, machine }) => {
  const turns = Array.from({ length: 60 }, (_, turn) => ({ prompt: `Question ${turn}`, answers: [`Answer ${turn}`] }));
  const file = machine.path('work', 'panes.jsonl');
  writeFileSync(file, transcript('panes', turns));
  const { url } = await machine.web(file);
  await page.goto(url);
  await openContext(page, page.getByRole('option', { name: /^Question 59/ }));
  // What a person does to scroll: until then, the list stays at the prompt of the turn. Blocks that are drawn on the way are measured, which may
  // move the list once more.
  await entries(page).hover();
  const first = entries(page).getByText('Question 0', { exact: true });
  await expect(async () => {
    await page.mouse.wheel(0, -100_000);
    await expect(first).toBeInViewport({ timeout: 2_000 });
  }).toPass();
  // The typed text belongs to this view; a rebuilt view would lose it.
  await page.keyboard.press('Control+f');
  const find = page.getByRole('textbox', { name: 'Find in this context' });
  await find.fill('Question');
  const stays = async (): Promise<void> => {
    await expect(first).toBeInViewport();
    await expect(find).toHaveValue('Question');
  };

  const inspector = page.getByRole('region', { name: 'Inspector' });
  const line = page.getByRole('separator', { name: 'Width of the inspector' });
  const { x, y } = (await line.boundingBox()) ?? { x: 0, y: 0 };
  await page.mouse.move(x, y + 200);
  await page.mouse.down();
  await page.mouse.move(x - 60, y + 200, { steps: 4 });
  await page.mouse.up();
  const widthNow = async (): Promise<number> => Math.round((await inspector.boundingBox())?.width ?? 0);
  const width = await widthNow();
  expect(width).toBeGreaterThan(380);

  await page.keyboard.press('Control+j');
  await expect(inspector).toBeHidden();
  await stays();
  await page.keyboard.press('Control+j');
  expect(Math.abs((await widthNow()) - width)).toBeLessThan(2);
  // In a narrow window the inspector is a drawer with the same key.
  await page.setViewportSize({ width: 700, height: 900 });
  await expect(inspector).toBeHidden();
  await stays();
  await page.keyboard.press('Control+j');
  await expect(inspector).toBeVisible();
  await page.keyboard.press('Control+j');
  await page.setViewportSize({ width: 1440, height: 900 });
  await expect(inspector).toBeVisible();
  await stays();
  expect(Math.abs((await widthNow()) - width)).toBeLessThan(2);
});

test('an address of something that does not exist shows an error and a way out', { tag: '@long' }, async ({ page, shared }) => {
  const { origin } = shared.host;
  const project = await shared.open(page, 'Histories');
  const open = (name: string, more: string) =>
    page.evaluate(
      (hash) => {
        location.hash = hash;
      },
      `#/${name}?project=${encodeURIComponent(project)}${more}`,
    );
  const center = view(page);
  // As the first address of a window, and then as further ones.
  await page.goto('about:blank');
  await page.goto(`${origin}/#/context?project=${encodeURIComponent(project)}&commit=ctx-00000000`);
  for (const name of ['context', 'request', 'replay', 'run', 'compose', 'timeline']) {
    await open(name, '&commit=ctx-00000000');
    await expect(center.getByRole('alert'), name).toContainText('ctx-00000000');
    await expect(center.getByRole('button', { name: /^(Select|Choose) a/ }), name).toBeVisible();
  }
  await center.getByRole('button', { name: /^(Select|Choose) a/ }).click();
  await expect(commits(page).first()).toBeVisible();
  await open('experiments', '&experiment=none');
  await center.getByRole('button', { name: 'All experiments' }).click();
  await expect(center).toContainText('No experiments yet');
  // A project that does not exist has no panes.
  await page.goto('about:blank');
  await page.goto(`${origin}/#/chain?project=${encodeURIComponent('/nowhere.stemma')}`);
  await expect(center.getByRole('alert')).toContainText('/nowhere.stemma');
  await expect(page.getByRole('region', { name: 'Inspector' })).toBeHidden();
  await center.getByRole('button', { name: 'Sessions' }).click();
  await expect(page.getByRole('treegrid', { name: 'Sessions' })).toBeVisible();
});

test('a list of sessions that cannot be read says so at once, and Try again reads it', { tag: '@long' }, async ({ page, shared }) => {
  let isBroken = false;
  await page.routeWebSocket('**/rpc', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      const text = message.toString();
      if (!isBroken || !text.includes('/session/list')) return server.send(message);
      const json = { defined: false, code: 'INTERNAL', status: 500, message: 'The list broke' };
      socket.send(JSON.stringify({ i: JSON.parse(text).i, p: { s: 500, b: { json } } }));
    });
  });
  const { origin } = shared.host;
  const project = await shared.open(page, 'Histories');
  isBroken = true;
  await page.goto('about:blank');
  await page.goto(`${origin}/#/sessions?project=${encodeURIComponent(project)}`);
  const alert = view(page).getByRole('alert');
  await expect(alert).toContainText('The list broke');
  await expect(page.locator('.skeleton')).toHaveCount(0);
  // The list mends with the click, and not before: a change of the project reads it, too.
  await page.exposeFunction('mend', () => {
    isBroken = false;
  });
  await page.evaluate(() => document.addEventListener('click', () => Reflect.get(window, 'mend')(), { capture: true, once: true }));
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('treegrid', { name: 'Sessions' })).toBeVisible();
});

test('canvases follow a change of the system theme', { tag: '@long' }, async ({ page, shared }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await shared.open(page, 'Histories');
  await openContext(page, page.getByRole('option', { name: /^Fix it, please/ }));
  const bar = page.getByRole('slider', { name: 'Tokens of the context, entry by entry' }).first();
  await expect(
    view(page)
      .getByText(/tokens, counted/)
      .first(),
  ).toBeVisible();
  // One color: widths may still change while the parts of the count arrive.
  const drawn = () =>
    bar.evaluate((canvas: HTMLCanvasElement) =>
      canvas
        .getContext('2d')
        ?.getImageData(1, canvas.height / 2, 1, 1)
        .data.join(' '),
    );
  await expect(entries(page)).toHaveAttribute('aria-busy', 'false');
  await expect.poll(drawn).not.toBe('0 0 0 0');
  const light = await drawn();
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(drawn).not.toBe(light);
  await page.emulateMedia({ colorScheme: 'light' });
  await expect.poll(drawn).toBe(light);
});

test('back, forward, reload and a copied address lead to the same place', { tag: '@long' }, async ({ page, shared }) => {
  await shared.open(page, 'Histories');
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

test('a view without a commit shows the newest, and the list of sessions opens one', { tag: '@long' }, async ({ page, shared }) => {
  await shared.open(page, 'Histories');
  await expect(commits(page).first()).toHaveAttribute('aria-selected', 'true');
  await place(page, 'Sessions').click();
  await sessionRow(page, /Jam that is gone/).click();
  await expect(commits(page).first()).toBeVisible();
  await expect(page).toHaveURL(/session=9dec3024/);
  await expectAccessible(page);
});
