import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from '../../support/e2e.js';
import type { Machine } from '../../support/machine.js';
import { commits, complaints, entries, sheet } from '../../support/window.js';

const asked = 'What do you mean by "counts twice"?';
const file = 'export function retry(work, { attempts = 3, delay = 200 } = {}) { /* … */ }';

/** A reviewer's finding, with the reviewer's context behind it, and one answer that the reviewer gave before, from that context. */
async function review(machine: Machine, dir: string) {
  const call = async (procedure: string, input: unknown) => {
    const ran = await machine.run('call', procedure, ...(procedure === 'project.create' ? [] : ['--project', dir]), '--input', JSON.stringify(input));
    expect(ran.code, ran.err).toBe(0);
    return JSON.parse(ran.out);
  };
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

  await call('project.create', { dir, name: 'Team' });
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
  return { call, understood: understood.id as string };
}

/** What a sheet is for: the last of its buttons. */
const finish = (page: Page) => sheet(page).getByRole('button').last();

async function everybodyCanUse(page: Page, part: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expect(page.locator('html')).toHaveAttribute('data-theme', colorScheme);
    expect((await new AxeBuilder({ page }).include(part).analyze()).violations, colorScheme).toEqual([]);
  }
}

test('[K3] [K6] a finding is discussed with the reviewer as they were, resolved, and only then the ticket closes', async ({ page, machine }) => {
  const met = complaints(page);
  const dir = machine.path('Team.stemma');
  const { call, understood } = await review(machine, dir);
  const { url } = await machine.web(dir);
  await page.goto(url);
  await expect(page).toHaveURL(/project=/);
  await page.getByRole('tab', { name: 'Reviews' }).click();
  const inReview = page.getByRole('region', { name: 'In review, 1 ticket' });
  await expect(inReview).toContainText('2 of 2');
  await everybodyCanUse(page, '.reviews');
  await inReview.getByRole('button', { name: /Retry failed jobs/ }).click();

  // Closing is refused where it is asked for, with what stands in its way.
  const moves = page.getByRole('group', { name: 'Moves' });
  await expect(moves).toContainText('Not to be closed yet: 2 findings are open; @rev did not approve.');
  await moves.getByRole('button', { name: 'Close' }).click();
  await expect(sheet(page)).toContainText('2 findings are open; @rev did not approve');
  await expect(sheet(page).getByRole('button', { name: 'Close anyway' })).toBeDisabled();
  await everybodyCanUse(page, '[role=dialog]');
  await sheet(page).getByRole('button', { name: 'Cancel' }).click();

  const findings = page.getByRole('region', { name: 'Findings' });
  const discussion = page.getByRole('complementary', { name: 'Discussion' });
  const messages = discussion.getByRole('region', { name: 'Messages of the discussion' }).getByRole('listitem');
  const question = discussion.getByRole('textbox', { name: 'Ask @rev' });
  await page.getByRole('combobox', { name: 'Write as' }).fill('@author');
  await findings.getByRole('button', { name: /The first attempt counts twice/ }).click();
  await expect(discussion).toContainText('Review the retries');

  // The recorded reviewer answers, and the answer is a commit on a branch that holds all that they had read.
  await question.fill(asked);
  await question.press('Enter');
  await expect(messages.filter({ hasText: 'so a job is called four times' })).toContainText('@rev');
  await expect(messages).toHaveCount(2);
  await everybodyCanUse(page, '.ticket-page');
  await messages
    .nth(1)
    .getByRole('button', { name: /^[0-9a-f]/ })
    .click();
  await expect(entries(page)).toContainText('export function retry');
  await expect(entries(page)).toContainText('so a job is called four times');
  await page.goBack();

  // What nobody asked before has no recorded answer: that is said, and the question is kept.
  await question.fill('And with a negative number?');
  await question.press('Enter');
  await expect(discussion.getByText('The recording has no answer to this')).toBeVisible();
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
    .getByRole('navigation', { name: 'Where this ticket stands' })
    .getByRole('button', { name: /Retry failed jobs/ })
    .click();
  await expect(moves).toContainText('Not to be closed yet: 1 finding is open; @rev did not approve.');

  // The other finding has the same context behind it, and a discussion of its own.
  await findings.getByRole('button', { name: /Zero attempts is not tested/ }).click();
  await expect(discussion).toContainText('Nothing was asked yet');
  await question.fill(asked);
  await question.press('Enter');
  await expect(messages).toHaveCount(2);
  await resolve('A test was added');
  await page
    .getByRole('navigation', { name: 'Where this ticket stands' })
    .getByRole('button', { name: /Retry failed jobs/ })
    .click();

  await page.getByRole('button', { name: 'Give a verdict' }).click();
  await sheet(page).getByRole('radio', { name: '@rev approved' }).check();
  await sheet(page).getByRole('button', { name: 'Give the verdict' }).click();
  await expect(page.getByRole('region', { name: 'Reviewers' })).toContainText('approved');
  await expect(moves).not.toContainText('Not to be closed yet');
  await moves.getByRole('button', { name: 'Close' }).click();
  await finish(page).click();
  await expect(moves.getByRole('button', { name: 'Open again' })).toBeVisible();
  await everybodyCanUse(page, '.ticket-page');

  await page.getByRole('tab', { name: 'Chain' }).click();
  await expect(commits(page).filter({ hasText: 'Review the retries' })).toContainText(/\d tickets/);

  // The doors agree: both discussions begin at the reviewer's commit, and are branches of their own.
  const found = await call('ticket.list', { type: 'review_finding' });
  const threads = await Promise.all(found.map(({ ticketId }: { ticketId: string }) => call('ticket.thread', { ticketId })));
  expect(threads.map(({ from }) => from)).toEqual([understood, understood]);
  expect(new Set(threads.flatMap(({ messages: own }) => own.map(({ commit }: { commit: string }) => commit))).size).toBe(5);
  expect(met).toEqual([]);
});
