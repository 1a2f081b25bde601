import type { ServerResponse } from 'node:http';
import type { Page } from '@playwright/test';
import { expectAccessible } from '../../support/axe.js';
import { expect, test } from '../../support/e2e.js';
import type { Machine } from '../../support/machine.js';
import { completionEvents, messageEvents, modelServer, stream } from '../../support/model-server.js';
import type { SharedHost } from '../../support/shared-host.js';
import { commits, complaints, composeIn, entries, newProject, place, sheet, view } from '../../support/window.js';

const asked = 'What do you mean by "counts twice"?';
const file = 'export function retry(work, { attempts = 3, delay = 200 } = {}) { /* … */ }';

/** Serves a project with a reviewer's findings, the reviewer's context, and one recorded reply from that context. */
async function review(on: Machine | SharedHost) {
  const isShared = 'host' in on;
  const dir = isShared ? on.folder('Team') : on.path('Team.stemma');
  const host = isShared ? on.host : await on.web();
  const call = await newProject(host, dir, 'Team');
  const line = (type: string, uuid: string, parentUuid: string | null, content: unknown) =>
    `${JSON.stringify({
      ...{ parentUuid, uuid, type, isSidechain: false, cwd: '/work/api', sessionId: 's1', version: '2.1.0', timestamp: '2026-05-04T10:00:00.000Z' },
      message: type === 'user' ? { role: 'user', content } : { id: `m${uuid}`, type: 'message', role: 'assistant', model: 'claude', content },
    })}\n`;
  const said = (text: string) => [{ type: 'text', text }];
  const commit = (parent: string | null, principal: string, text: string, summary: string) =>
    call('context.checkpoint', {
      parent,
      type: 'delta',
      format: 'claude-code-v1',
      text,
      principal,
      summary,
      template: 'coder',
      checkpoint: 'turn_boundary',
    });

  const work =
    line('user', 'u1', null, 'Make the queue retry failed jobs') + line('assistant', 'u2', 'u1', said('Jobs are tried again up to three times.'));
  const written = await commit(null, '@author', work, 'Make the queue retry failed jobs');
  const reading =
    line('user', 'r1', null, 'Review the retries') +
    line('assistant', 'r2', 'r1', [{ type: 'tool_use', id: 't9', name: 'Read', input: { file_path: 'src/retry.js' } }]) +
    line('user', 'r3', 'r2', [{ type: 'tool_result', tool_use_id: 't9', content: file }]) +
    line('assistant', 'r4', 'r3', said('The first attempt counts twice, and zero attempts is not tested.'));
  const understood = await commit(null, '@rev', reading, 'Review the retries');
  const answered =
    line('user', 'r5', 'r4', asked) + line('assistant', 'r6', 'r5', said('The loop begins **after** the first call, so a job is called four times.'));
  await commit(understood.id, '@rev', answered, asked);

  const { ticketId } = await call('ticket.create', { title: 'Retry failed jobs', type: 'feature', labels: ['queue'], by: '@pm' });
  await call('ticket.transition', { ticketId, to: 'in_progress', assignee: '@author', by: '@author', contextId: written.id });
  await call('ticket.transition', { ticketId, to: 'review', reviewers: ['@rev'], by: '@author' });
  const finding = { type: 'review_finding', parent: ticketId, by: '@rev', contextId: understood.id };
  await call('ticket.create', { ...finding, title: 'The first attempt counts twice', body: 'With `attempts: 3` a job is called four times.' });
  await call('ticket.create', { ...finding, title: 'Zero attempts is not tested' });
  return {
    call,
    ticketId: ticketId as string,
    understood: understood.id as string,
    open: async (page: Page): Promise<void> => {
      const address = `/reviews?project=${encodeURIComponent(dir)}`;
      if (isShared) await on.show(page, address);
      else await page.goto(`${host.url}#${address}`);
      await expect(page.getByRole('region', { name: 'In review, 1 ticket' })).toBeVisible();
    },
  };
}

const board = (page: Page, status: string) => page.getByRole('region', { name: new RegExp(`^${status}, `) });
const card = (page: Page, title: string) => page.getByRole('button', { name: new RegExp(title) });

/** The main button of a sheet is the last one of its foot. A sheet that still loads has no foot. */
const finish = (page: Page) => sheet(page).locator('.sheet-foot').getByRole('button').last();

test('[K3] [K6] a finding is discussed with the reviewer and resolved before closing', { tag: '@long' }, async ({ page, shared }) => {
  const met = complaints(page);
  const { call, understood, open } = await review(shared);
  await open(page);
  const inReview = page.getByRole('region', { name: 'In review, 1 ticket' });
  await expect(inReview).toContainText('2 of 2');
  await expectAccessible(page, '.reviews');
  await inReview.getByRole('button', { name: /Retry failed jobs/ }).click();

  // Closing is refused with the reasons.
  const moves = page.getByRole('group', { name: 'Moves' });
  await expect(moves).toContainText('Cannot be closed yet: 2 findings are open; @rev has not approved.');
  await moves.getByRole('button', { name: 'Close' }).click();
  await expect(sheet(page)).toContainText('2 findings are open; @rev has not approved');
  await expect(sheet(page).getByRole('button', { name: 'Close anyway' })).toBeDisabled();
  await expectAccessible(page, '[role=dialog]');
  await sheet(page).getByRole('button', { name: 'Cancel' }).click();

  const findings = page.getByRole('region', { name: 'Findings' });
  const discussion = page.getByRole('complementary', { name: 'Discussion' });
  const messages = discussion.getByRole('region', { name: 'Messages of the discussion' }).getByRole('listitem');
  const question = discussion.getByRole('textbox', { name: 'Ask @rev' });
  await page.getByRole('combobox', { name: 'Write as' }).fill('@author');
  await findings.getByRole('button', { name: /The first attempt counts twice/ }).click();
  await expect(discussion).toContainText('Review the retries');
  const then = discussion.getByRole('region', { name: 'Context of the author' });
  await then.getByRole('button', { name: 'Open' }).click();
  await expect(entries(page)).toContainText('zero attempts is not tested');
  await page.goBack();
  await then.getByRole('button', { name: 'Compare with now' }).click();
  await expect(page.getByRole('heading', { name: 'Compare', level: 1 })).toBeVisible();
  await expect(view(page)).toContainText('so a job is called four times');
  await page.goBack();
  await then.getByRole('button', { name: 'Fork' }).click();
  await expect(sheet(page).getByRole('button', { name: 'Create fork' })).toBeVisible();
  await page.keyboard.press('Escape');

  // The recorded reviewer replies. The reply is a commit on a branch with the reviewer's whole context.
  await question.fill(asked);
  await composeIn(question);
  await expect(question).toHaveValue(asked);
  await question.press('Enter');
  await expect(messages.filter({ hasText: 'so a job is called four times' })).toContainText('@rev');
  await expect(messages).toHaveCount(2);
  await expectAccessible(page, '.ticket-page');
  await messages
    .nth(1)
    .getByRole('button', { name: /^[0-9a-f]/ })
    .click();
  await expect(entries(page)).toContainText('export function retry');
  await expect(entries(page)).toContainText('so a job is called four times');
  await page.goBack();

  // A new question has no recorded reply: an error says so, and the question is kept.
  await question.fill('And with a negative number?');
  await question.press('Enter');
  await expect(discussion.getByText('The recording has no answer')).toBeVisible();
  await expect(messages.filter({ hasText: 'And with a negative number?' })).toBeVisible();

  const resolve = async (words: string) => {
    await moves.getByRole('button', { name: 'Resolve' }).click();
    await expect(finish(page)).toBeDisabled();
    await sheet(page).getByRole('textbox', { name: 'How it was resolved' }).fill(words);
    await finish(page).click();
    await expect(page.getByRole('region', { name: 'Resolution' })).toContainText(words);
  };
  await resolve('The loop begins at zero');
  await page
    .getByRole('navigation', { name: 'Place of this ticket' })
    .getByRole('button', { name: /Retry failed jobs/ })
    .click();
  await expect(moves).toContainText('Cannot be closed yet: 1 finding is open; @rev has not approved.');

  // The other finding has the same context but its own discussion.
  await findings.getByRole('button', { name: /Zero attempts is not tested/ }).click();
  await expect(discussion).toContainText('No messages yet');
  await question.fill(asked);
  await question.press('Enter');
  await expect(messages).toHaveCount(2);
  await resolve('A test was added');
  await page
    .getByRole('navigation', { name: 'Place of this ticket' })
    .getByRole('button', { name: /Retry failed jobs/ })
    .click();

  await page.getByRole('button', { name: 'Give a verdict' }).click();
  await sheet(page).getByRole('radio', { name: '@rev approved' }).check();
  await sheet(page).getByRole('button', { name: 'Give the verdict' }).click();
  await expect(page.getByRole('region', { name: 'Reviewers' })).toContainText('approved');
  await expect(moves).not.toContainText('Cannot be closed yet');
  await moves.getByRole('button', { name: 'Close' }).click();
  await finish(page).click();
  await expect(moves.getByRole('button', { name: 'Open again' })).toBeVisible();
  await expectAccessible(page, '.ticket-page');

  await place(page, 'Chain').click();
  await expect(commits(page).filter({ hasText: 'Review the retries' })).toContainText(/\d tickets/);

  // The command line agrees: both discussions are separate branches from the reviewer's commit.
  const found = await call('ticket.list', { type: 'review_finding' });
  const threads = await Promise.all(found.map(({ ticketId }: { ticketId: string }) => call('ticket.thread', { ticketId })));
  expect(threads.map(({ from }) => from)).toEqual([understood, understood]);
  expect(new Set(threads.flatMap(({ messages: own }) => own.map(({ commit }: { commit: string }) => commit))).size).toBe(5);
  expect(met).toEqual([]);
});

test('a ticket is handed over with its text and context, and the filter stays', async ({ page, shared }) => {
  const { open } = await review(shared);
  await open(page);
  const filter = page.getByRole('searchbox', { name: 'Filter tickets' });
  await filter.fill('retry');
  await card(page, 'Retry failed jobs').click();
  await page.getByRole('button', { name: 'Hand over to an agent' }).click();
  const form = page.getByRole('form', { name: 'Contents of the box' });
  const instruction = form.getByRole('textbox', { name: 'Value of instruction' });
  await expect(instruction).toHaveValue('Retry failed jobs');
  await form.getByRole('button', { name: 'Add its context' }).click();
  await expect(form.getByRole('button', { name: 'Remove box' })).toBeVisible();
  await expectAccessible(page, '.handover');
  await page.reload();
  await expect(instruction).toHaveValue('Retry failed jobs');
  await page.goBack();
  await page.getByRole('button', { name: 'All tickets' }).click();
  await place(page, 'Reviews').click();
  await filter.fill('retry');
  await card(page, 'Retry failed jobs').click();
  await page.goBack();
  await expect(filter).toHaveValue('retry');
  await expect(card(page, 'Retry failed jobs')).toBeFocused();
});

test('[K6] providers answer a question, and the resolution is verified from its end', { tag: '@long' }, async ({ page, machine }) => {
  const met = complaints(page);
  const listed = (response: ServerResponse) => response.end(JSON.stringify({ data: [{ id: 'a-model' }] }));
  const remote = await modelServer((response, { path }) =>
    path?.includes('models') ? listed(response) : stream(response, messageEvents({ text: 'The loop begins after the first call.' })),
  );
  const local = await modelServer((response, { path }) =>
    path?.includes('models') ? listed(response) : stream(response, completionEvents('Yes, that settles it.')),
  );
  Object.assign(machine.env, {
    ...{ ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_BASE_URL: remote.url },
    ...{ OPENAI_BASE_URL: `${local.url}/v1`, OPENAI_API_KEY: '' },
  });
  const { open, call } = await review(machine);
  await open(page);
  await page.getByRole('combobox', { name: 'Write as' }).fill('@author');
  await card(page, 'The first attempt counts twice').click();
  const discussion = page.getByRole('complementary', { name: 'Discussion' });
  const messages = discussion.getByRole('region', { name: 'Messages of the discussion' }).getByRole('listitem');
  const question = discussion.getByRole('textbox', { name: 'Ask @rev' });

  // Each provider receives the reviewer's whole context and the question in its own wire format.
  await discussion.getByRole('combobox', { name: 'Answered by' }).selectOption({ label: 'Anthropic' });
  await question.fill('Where does it begin?');
  await question.press('Enter');
  await expect(messages.filter({ hasText: 'The loop begins after the first call.' })).toContainText('@rev');
  const askedOf = (server: typeof remote) => JSON.stringify(server.asked.at(-1)?.body.messages);
  expect(askedOf(remote)).toContain('export function retry');
  expect(askedOf(remote)).toContain('Where does it begin?');
  expect(remote.asked.at(-1)?.headers['x-api-key']).toBe('a-key');

  await page.getByRole('group', { name: 'Moves' }).getByRole('button', { name: 'Resolve' }).click();
  await sheet(page).getByRole('textbox', { name: 'How it was resolved' }).fill('The loop begins at zero');
  await finish(page).click();
  const resolution = page.getByRole('region', { name: 'Resolution' });
  await expect(resolution).toContainText('@rev should verify the resolution of this');
  await resolution.getByRole('button', { name: 'Ask @rev…' }).click();
  await expect(question).toBeFocused();
  await expect(question).toHaveValue(/The loop begins at zero\s+Does this settle/);
  await discussion.getByRole('combobox', { name: 'Answered by' }).selectOption({ label: 'OpenAI-compatible' });
  await question.press('Enter');
  await expect(messages.filter({ hasText: 'Yes, that settles it.' })).toContainText('@rev');
  await expect(messages).toHaveCount(4);
  expect(askedOf(local)).toContain('The loop begins after the first call.');
  expect(askedOf(local)).toContain('export function retry');
  await resolution.getByRole('button', { name: 'Verified' }).click();
  await expect(resolution).toContainText('Verified by @author');
  await expectAccessible(page, '.ticket-page');
  const [finding] = (await call('ticket.list', { type: 'review_finding' })) as { ticketId: string }[];
  expect(await call('ticket.events', { ticketId: finding?.ticketId, state: 'done' })).toMatchObject([
    { task: 'verify_resolution', answeredBy: '@author' },
    { task: 'answer' },
  ]);
  expect(met).toEqual([]);
  remote.close();
  local.close();
});

test('[K1] cards move by mouse, key and menu, and changes of others appear', { tag: '@long' }, async ({ page, shared }) => {
  const met = complaints(page);
  const { open, call, ticketId } = await review(shared);
  await call('ticket.create', { title: 'Log every attempt', type: 'task', dependsOn: [ticketId] });
  await open(page);
  const logging = card(page, 'Log every attempt');

  // By mouse: a move that needs input asks for it; others happen at once.
  await logging.dragTo(board(page, 'In progress'));
  await sheet(page).getByRole('textbox', { name: 'Assignee' }).fill('@author');
  await finish(page).click();
  await expect(board(page, 'In progress')).toContainText('Log every attempt');
  await logging.dragTo(board(page, 'Blocked'));
  await expect(board(page, 'Blocked')).toContainText('Log every attempt');

  // A column that refuses the card says so, and nothing moves.
  const reviewed = card(page, 'Retry failed jobs');
  await reviewed.hover();
  await page.mouse.down();
  await board(page, 'Deferred').hover();
  await board(page, 'Deferred').hover();
  await expect(board(page, 'Deferred')).toContainText('Cannot move from In review to Deferred');
  await page.mouse.up();
  await expect(board(page, 'In review')).toContainText('Retry failed jobs');
  await reviewed.dragTo(board(page, 'Closed'));
  await expect(sheet(page)).toContainText('2 findings are open; @rev has not approved');
  await sheet(page).getByRole('button', { name: 'Cancel' }).click();

  // By key and by the menu of the card.
  await logging.focus();
  await page.keyboard.press('m');
  await sheet(page).getByRole('combobox', { name: 'From blocked to' }).selectOption('Open');
  await finish(page).click();
  await expect(board(page, 'Open')).toContainText('Log every attempt');
  await logging.click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Defer' }).click();
  await expect(board(page, 'Deferred')).toContainText('Log every attempt');

  // Changes by the command line appear on the board, in the inbox and on the ticket's page.
  await call('ticket.create', { title: 'Made elsewhere', type: 'bug' });
  await expect(board(page, 'Open')).toContainText('Made elsewhere');
  await page.getByRole('radio', { name: /^Waiting/ }).click();
  const starts = page.getByRole('list', { name: 'Requested starts' }).getByRole('listitem');
  await expect(starts).toHaveText([/@rev should review/]);
  // What a model would read if it carried out the start.
  const reads = starts.getByRole('button', { name: 'What it reads' });
  await reads.click();
  await expect(starts.first().getByRole('region', { name: 'Messages as sent' })).toContainText('You are @rev. Review this ticket.');
  await expectAccessible(page, '.reviews');
  await reads.click();
  const [waiting] = await call('ticket.events', { state: 'waiting' });
  await call('ticket.acknowledge', { event: waiting.event, by: '@runner', as: 'taken' });
  await expect(starts).toHaveText([/taken by @runner/]);
  await starts.getByRole('button', { name: /Retry failed jobs/ }).click();
  await call('ticket.verdict', { ticketId, reviewer: '@rev', verdict: 'approved' });
  await expect(page.getByRole('region', { name: 'Reviewers' })).toContainText('approved');

  // The palette finds a ticket by title or id.
  await page.keyboard.press('ControlOrMeta+k');
  await expect(sheet(page).getByRole('combobox')).toBeFocused();
  await page.keyboard.type('made else');
  await page.getByRole('option', { name: /Made elsewhere/ }).click();
  await expect(page.getByRole('heading', { name: 'Made elsewhere' })).toBeVisible();
  await page.keyboard.press('ControlOrMeta+k');
  await expect(sheet(page).getByRole('combobox')).toBeFocused();
  await page.keyboard.type(ticketId);
  await page.getByRole('option', { name: /Retry failed jobs/ }).click();
  await expect(page.getByRole('heading', { name: 'Retry failed jobs' })).toBeVisible();
  expect(met).toEqual([]);
});

test('[K7] issues, reviews and task lists are imported once, with the current commit', { tag: '@long' }, async ({ page, shared }) => {
  const met = complaints(page);
  const { open, call, understood } = await review(shared);
  await open(page);
  const bring = async (text: string): Promise<void> => {
    await page.getByRole('button', { name: 'Import…' }).click();
    await sheet(page).getByRole('textbox', { name: 'Text to import' }).fill(text);
    await finish(page).click();
  };
  const later = new Date(Date.now() + 60_000).toISOString();
  const url = 'https://forge.example/o/r/pull/7';
  const pull = {
    ...{ html_url: url, title: 'Retry the queue', body: 'why', state: 'open', user: { login: 'ann' }, pull_request: {}, created_at: later },
    reviews: [{ id: 1, user: { login: '@rev' }, state: 'CHANGES_REQUESTED', body: 'A test is missing', submitted_at: later }],
  };
  await bring(JSON.stringify([pull]));
  await expect(page.getByText('Imported 2 tickets')).toBeVisible();
  await expect(board(page, 'In review')).toContainText('Retry the queue');
  await bring('# Plan\n- [ ] Retry failed jobs twice\n  - [x] Find out why');
  await expect(page.getByText('Imported 2 tickets')).toBeVisible();
  await expect(board(page, 'Open')).toContainText('Retry failed jobs twice');
  await bring(JSON.stringify([pull]));
  await expect(page.getByText('Imported 0 tickets; 2 existed already')).toBeVisible();
  await bring('nothing to do');
  await expect(sheet(page).getByRole('alert')).toContainText('The text contains no issue, review or task');
  await sheet(page).getByRole('button', { name: 'Cancel' }).click();

  // What a ticket depends on is found by its words and chosen from a list.
  await page.getByRole('button', { name: 'New ticket' }).click();
  await sheet(page).getByRole('textbox', { name: 'Title' }).fill('Publish the queue');
  await sheet(page).getByRole('searchbox', { name: 'Find a ticket for Depends on' }).fill('jobs twice');
  await sheet(page).getByRole('button', { name: 'Add Retry failed jobs twice' }).click();
  await expect(sheet(page).getByRole('list', { name: 'Depends on, chosen' })).toContainText('Retry failed jobs twice');
  await finish(page).click();
  await expect(page.getByRole('heading', { name: 'Publish the queue' })).toBeVisible();
  const [first, second] = await Promise.all(
    ['publish the queue', 'jobs twice'].map(async (text) => (await call('ticket.overview', { text })).rows[0].ticketId as string),
  );
  expect((await call('ticket.get', { ticketId: first })).dependsOn).toEqual([second]);
  await page.getByRole('button', { name: 'All tickets' }).click();

  await card(page, 'A test is missing').click();
  await expect(page.getByRole('region', { name: 'Versions' })).toContainText('found');
  const [finding] = (await call('ticket.overview', { text: 'a test is missing' })).rows;
  expect((await call('context.history', { id: finding.contextId })).map(({ id }: { id: string }) => id)).toContain(understood);
  expect(met).toEqual([]);
});
