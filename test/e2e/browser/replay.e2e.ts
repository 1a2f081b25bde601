import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/e2e.js';
import { type Asked, completionEvents, messageEvents, modelServer, stream } from '../../support/model-server.js';
import { giveProject } from '../../support/prepared.js';
import { commits, complaints, entries, openRunAgain, place } from '../../support/window.js';

const prompt = /^Fix it, please\. Test first\./;
const reply = (page: Page) => page.getByRole('article', { name: 'Reply', exact: true }).first();

/** The address follows the steps a moment later. It is settled when two looks find the same. */
async function expectSettledAddress(page: Page): Promise<void> {
  let before: string | undefined;
  const isSame = (): boolean => {
    const same = page.url() === before;
    before = page.url();
    return same;
  };
  await expect.poll(isSame, { intervals: [500] }).toBe(true);
}

test('a chain is replayed, and a turn runs again on the recording and on a real server', async ({ page, machine }) => {
  const met = complaints(page);
  const server = await modelServer((response, { path }) =>
    path?.includes('models')
      ? void response.end(JSON.stringify({ data: [{ type: 'model', id: 'house-model' }] }))
      : stream(response, messageEvents({ text: 'Nothing needs to be fixed.' })),
  );
  Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: server.url });
  const { url } = await machine.web(await giveProject(machine, 'Sample'));
  await page.goto(url);
  await expect(commits(page).first()).toBeVisible();
  await page.getByRole('option', { name: prompt }).click();

  // The keyboard steps; the address names the step, and a reload keeps it.
  await place(page, 'Replay').click();
  const moment = page.getByRole('slider', { name: 'Moment of the replay' });
  for (const [key, step] of [
    ['Home', '1'],
    ['ArrowRight', '2'],
    ['.', '3'],
  ] as const) {
    await moment.press(key);
    await expect(moment).toHaveAttribute('aria-valuenow', step);
  }
  await expectSettledAddress(page);
  await page.reload();
  await expect(moment).toHaveAttribute('aria-valuenow', '3');
  await expect(page.getByRole('region', { name: 'Context window' })).toContainText('3 entries');
  // The slider marks prompts and errors, and says how many.
  await expect(page.getByText('2 prompts', { exact: true })).toBeVisible();
  await expect(page.getByText('1 error', { exact: true })).toBeVisible();

  // Run again on the recording.
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(reply(page)).toContainText('done');
  await page.getByRole('button', { name: 'Keep as branch' }).click();
  await expect(page.getByRole('button', { name: 'Open branch' })).toBeVisible();

  // Run with changed prompt and system prompt on the server.
  await page.getByRole('combobox', { name: 'Provider' }).selectOption('anthropic');
  // The recorded model does not exist there, so one that does is offered.
  await expect(page.getByRole('combobox', { name: 'Model', exact: true })).toHaveValue('house-model');
  await page.getByText('System prompt', { exact: true }).click();
  await page.getByRole('button', { name: 'Add block' }).click();
  await page.getByRole('textbox', { name: 'System prompt, block 1' }).fill('Be short.');
  await page.getByRole('button', { name: 'Edit entry 1', exact: true }).click();
  await page.getByRole('textbox', { name: 'Text of the entry' }).fill('Fix nothing.');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  // The reply is drawn like every other one.
  await expect(reply(page).getByRole('article', { name: /^Assistant/ })).toContainText('Nothing needs to be fixed.');
  const asked = server.asked.filter(({ body }) => body.stream).at(-1);
  expect(asked?.body).toMatchObject({ model: 'house-model', system: [{ type: 'text', text: 'Be short.' }] });
  expect(JSON.stringify(asked?.body)).toContain('Fix nothing.');

  // Compare with the recorded reply, step through the differences, export as Markdown.
  await reply(page).getByRole('button', { name: 'Compare' }).click();
  const differences = page.getByRole('region', { name: 'Differences' });
  await expect(differences).toContainText('Nothing needs to be fixed.');
  await expect(differences).toContainText('Fix nothing.');
  await expect(page.getByRole('region', { name: 'Diff', exact: true })).toContainText(/Output\s*42/);
  await expect(page.getByRole('region', { name: 'Diff', exact: true })).toContainText('no common ancestor');
  const change = page.getByRole('status').filter({ hasText: /^Change/ });
  await expect(change).toHaveText(/^Change 1 of \d+$/);
  // The whole bar is one line.
  const [tabs, steps] = [await page.getByRole('radiogroup', { name: 'Compared' }).boundingBox(), await change.boundingBox()];
  expect((tabs?.y ?? 0) + (tabs?.height ?? 0)).toBeGreaterThan((steps?.y ?? 0) + (steps?.height ?? 0) / 2);
  await differences.press('j');
  await expect(change).toHaveText(/^Change 2 of \d+$/);
  await page.getByRole('button', { name: 'Previous difference' }).click();
  await expect(change).toHaveText(/^Change 1 of \d+$/);
  await page.getByRole('button', { name: 'Export as Markdown' }).click();
  const saved = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Save as file' }).click();
  const file = machine.path('comparison.md');
  await (await saved).saveAs(file);
  expect(readFileSync(file, 'utf8')).toMatch(/^\+ Fix nothing\.$/m);
  expect(met).toEqual([]);
  server.close();
});

test('commits dropped on each other are compared, calls field by field, samples in columns', { tag: '@long' }, async ({ page, machine }) => {
  const met = complaints(page);
  let replies = 0;
  const server = await modelServer((response, { body }) => {
    replies += 1;
    const edit = { file_path: '/home/sam/larder/test/expiry.test.js', old_string: 'a', new_string: `b${replies}` };
    // The first recorded call is a Read. The server reads another file instead.
    if (!JSON.stringify(body).includes('/elsewhere.js'))
      return stream(response, messageEvents({ tool: 'Read', input: { file_path: '/elsewhere.js' }, id: `t${replies}` }));
    return stream(response, messageEvents({ tool: 'Edit', input: edit, id: `t${replies}` }));
  });
  Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: server.url });
  const { url } = await machine.web(await giveProject(machine, 'Sample'));
  await page.goto(url);
  await commits(page).nth(1).dragTo(commits(page).first());
  await expect(page.getByRole('heading', { name: 'Compare', level: 1 })).toBeVisible();
  const diff = page.getByRole('region', { name: 'Diff', exact: true });
  await expect(diff).toContainText('unchanged');
  // Its tools are in one line.
  const tools = ['As the model had it', 'Side by side'].map((name) => diff.getByRole('radio', { name }));
  const distance = async (): Promise<number> => {
    const [first, second] = await Promise.all(tools.map((tool) => tool.boundingBox()));
    return first && second ? first.y - second.y : Number.NaN;
  };
  await expect.poll(distance).toBe(0);

  await place(page, 'Chain').click();
  await page.getByRole('option', { name: prompt }).click();
  await openRunAgain(page);
  await page.getByRole('combobox', { name: 'Provider' }).selectOption('anthropic');
  await page.getByRole('combobox', { name: /^Tool calls/ }).selectOption('stop');
  await page.getByRole('spinbutton', { name: 'Samples' }).fill('2');
  await page.getByRole('button', { name: 'Run 2 samples' }).click();
  await expect(page.getByRole('article', { name: 'Reply 2' })).toContainText('The call stays open');
  await page.getByRole('article', { name: 'Reply 1' }).getByRole('button', { name: 'Compare' }).click();
  const call = page.getByRole('article', { name: 'Call of Read, field by field' });
  await expect(call).toContainText('file_path');
  await expect(call).toContainText('elsewhere');
  await page.goBack();
  await page.getByRole('button', { name: 'Compare all' }).click();
  await expect(page.getByRole('region', { name: 'Side by side' })).toContainText('13 the same in all');
  expect(met).toEqual([]);
  server.close();
});

test('a refused provider keeps the typed text, and removing one asks for confirmation', { tag: '@long' }, async ({ page, machine }) => {
  const { url } = await machine.web(await giveProject(machine, 'Sample'));
  await page.goto(url);
  await page.getByRole('option', { name: prompt }).click();
  await openRunAgain(page);
  await page.getByRole('button', { name: 'Providers and keys' }).click();
  const sheet = page.getByRole('dialog', { name: 'Providers and keys' });
  const [title, address] = [sheet.getByRole('textbox', { name: 'Name' }), sheet.getByRole('textbox', { name: 'Address' })];
  await title.fill('Mine');
  await address.fill('ftp://127.0.0.1/v1');
  await address.press('Enter');
  await expect(sheet.getByRole('alert')).toContainText('An address begins with http:// or https://');
  await expect(title).toHaveValue('Mine');
  await address.fill('http://127.0.0.1:9/v1');
  await address.press('Enter');
  const own = sheet.getByRole('listitem').filter({ hasText: 'Mine' });
  await expect(own).toContainText('http://127.0.0.1:9/v1');
  await expect(title).toHaveValue('');
  await own.getByRole('button', { name: 'Remove Mine' }).click();
  const asked = page.getByRole('dialog', { name: 'Remove Mine?' });
  await expect(asked).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(asked).toBeHidden();
  await expect(own).toBeVisible();
  await own.getByRole('button', { name: 'Remove Mine' }).click();
  await asked.getByRole('button', { name: 'Remove' }).click();
  await expect(own).toBeHidden();
});

test('what-if: later turns run on a branch one by one and stop where replies diverge', { tag: '@long' }, async ({ page, machine }) => {
  const met = complaints(page);
  const lastSaid = ({ body }: Asked): string => JSON.stringify((body.messages as unknown[] | undefined)?.at(-1) ?? '');
  const server = await modelServer((response, asked) => stream(response, completionEvents(`You said ${lastSaid(asked).length} signs.`)));
  Object.assign(machine.env, { OPENAI_BASE_URL: server.url });
  const { url } = await machine.web(await giveProject(machine, 'Sample'));
  await page.goto(url);
  await page.getByRole('option', { name: prompt }).click();
  await openRunAgain(page);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('button', { name: 'Keep as branch' }).click();
  await page.getByRole('button', { name: 'Open branch' }).click();
  await openRunAgain(page);
  await page.getByRole('radio', { name: 'Later turns' }).click();
  const next = page.getByRole('list', { name: 'Next prompts' });
  await expect(next).toContainText('Leave the columns alone.');
  await page.getByRole('combobox', { name: 'Provider' }).selectOption('openai');
  await page
    .getByRole('textbox', { name: 'Model' })
    .or(page.getByRole('combobox', { name: 'Model' }))
    .fill('m');
  await page.getByRole('button', { name: 'Run these turns' }).click();
  const run = page.getByRole('region', { name: 'What-if run with openai' });
  await expect(run.getByRole('status')).toContainText('Diverged from the original: call 1');
  await expect(run).toContainText('Leave the columns alone.');
  await run.getByRole('button', { name: 'Continue from here' }).click();
  await expect(page.getByRole('region', { name: 'What-if run with openai' }).nth(1)).toContainText('Forget June.');
  // A reload forgets the runs of this window but no turn: the branch continues from its tip.
  await page.getByRole('region', { name: 'What-if run with openai' }).nth(1).getByRole('button', { name: 'Open branch' }).click();
  await page.reload();
  // Keys pressed before the window has loaded are lost.
  await expect(entries(page)).toBeVisible();
  await openRunAgain(page);
  await expect(next.getByRole('listitem')).toHaveCount(2);
  await page.getByRole('combobox', { name: 'Provider' }).selectOption('recorded');
  await page.getByRole('button', { name: 'Run these turns' }).click();
  await expect(page.getByText('The original has no further turns.')).toBeVisible();
  expect(met).toEqual([]);
  server.close();
});

test('an experiment: cases run, are checked and judged, and are exported as a table', { tag: '@long' }, async ({ page, machine }) => {
  const met = complaints(page);
  const server = await modelServer((response) => stream(response, messageEvents({ text: 'It was the time zone.' })));
  Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: server.url });
  const { url } = await machine.web(await giveProject(machine, 'Sample'));
  await page.goto(url);
  await page.getByRole('option', { name: prompt }).click();
  await openRunAgain(page);
  const keep = async (provider: string, name: string, experiment?: string): Promise<void> => {
    await page.getByRole('combobox', { name: 'Provider' }).selectOption(provider);
    await page.getByRole('button', { name: 'Add to experiment…' }).click();
    // The sample has an experiment already.
    if (experiment !== undefined) await page.getByRole('combobox', { name: 'Experiment' }).selectOption(experiment);
    await page.getByRole('textbox', { name: 'Name of the case' }).fill(name);
    await page.getByRole('button', { name: 'Add case' }).click();
    await expect(page.getByRole('region', { name: 'Cases' })).toContainText(name);
  };
  await keep('recorded', 'As it was', 'New experiment');
  await page.goBack();
  await keep('anthropic', 'Asked anew');
  await page.getByRole('textbox', { name: 'Value of the check' }).fill('time zone');
  await page.getByRole('button', { name: 'Add check' }).click();
  await page.getByRole('button', { name: 'Run all', exact: true }).click();
  const replies = page.getByRole('region', { name: 'Replies' });
  const rowOf = (name: string) => replies.getByRole('row').filter({ hasText: name });
  await expect(rowOf('Asked anew')).toContainText('passes');
  await expect(rowOf('Asked anew')).toContainText('100 / 42');
  await expect(rowOf('As it was')).toContainText('fails');
  // By keyboard: the first row is selected, and the person marks it as passed.
  await replies.press('p');
  await expect(rowOf('As it was')).toContainText('by you');
  await expect(rowOf('As it was')).toContainText('passes');
  await page.getByRole('button', { name: 'Run all again' }).click();
  await expect(replies.getByRole('row')).toHaveCount(5);
  await page.getByRole('button', { name: 'Export' }).last().click();
  const saved = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Save as CSV' }).click();
  const file = machine.path('table.csv');
  await (await saved).saveAs(file);
  expect(readFileSync(file, 'utf8').split('\r\n')).toHaveLength(6);
  // Removing a case asks for confirmation and keeps its results.
  await page.getByRole('button', { name: 'Remove the case Asked anew' }).click();
  await page.getByRole('dialog', { name: 'Remove the case Asked anew?' }).getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByRole('region', { name: 'Cases' })).not.toContainText('Asked anew');
  await expect(replies.getByRole('row')).toHaveCount(5);
  // Remove the experiment and restore it.
  await page.getByRole('button', { name: 'Remove this experiment' }).click();
  await page.getByRole('button', { name: 'Restore' }).click();
  await page.getByRole('button', { name: 'All experiments' }).click();
  await expect(page.getByRole('region', { name: 'Experiments' })).toContainText('4 replies');
  expect(met).toEqual([]);
  server.close();
});
