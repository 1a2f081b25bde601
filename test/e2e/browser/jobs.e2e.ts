import type { Locator } from '@playwright/test';
import { expect, test } from '../../support/e2e.js';
import { messageEvents, modelServer, stream } from '../../support/model-server.js';
import { agentsWindow, complaints, openAgents } from '../../support/window.js';

/** Opens all folded texts of a part of the window. */
async function unfold(part: Locator): Promise<void> {
  const more = part.getByRole('button', { name: /more lines? / });
  for (let left = await more.count(); left > 0; left = await more.count()) await more.first().click();
}

/** A text without the time of its call and without differences of white space. */
const withoutNow = (text: string): string => text.replace(/currentTime: "[^"]*"/, 'currentTime').replace(/\s+/g, ' ');

test('[W66][U5] a reply in the window resumes the run that waits for it', { tag: '@long' }, async ({ page, machine }) => {
  const met = complaints(page);
  const server = await modelServer((response, { body }) => {
    const said = JSON.stringify(body.messages ?? '');
    if (!body.stream) return stream(response, []);
    if (said.includes('Deploying main.')) return stream(response, messageEvents({ text: 'Done.' }));
    const input = said.includes('[Sarah (human)] main') ? { text: 'Deploying main.' } : { text: 'Which branch?', wait: { for: 'Sarah' } };
    stream(response, messageEvents({ tool: 'send_message', input, id: `toolu_${said.length}` }));
  });
  Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: server.url });
  try {
    const { dir, call } = await agentsWindow(page, machine);
    await call('space.addEntity', { entityId: 'sarah', name: 'Sarah', type: 'human' });
    await call('space.addEntity', { entityId: 'bot', name: 'Bot', type: 'agent' });
    for (const name of ['Team', 'Daily']) await call('space.create', { spaceId: name.toLowerCase(), name, members: ['sarah', 'bot'] });
    await page.goto(page.url().replace(/#.*/, `#/timeline?project=${encodeURIComponent(dir)}&space=team`));
    await page.reload();
    const chat = page.getByRole('region', { name: 'Messages', exact: true });
    const write = async (text: string): Promise<void> => {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    };
    await page.getByLabel('Write as').selectOption({ label: 'Sarah (human)' });
    await write('Deploy, please.');
    // What the agent reads before its start is what is recorded after it.
    const option = page.getByLabel('Timeline of').locator('optgroup[label="A run"] option').first();
    await page.getByLabel('Timeline of').selectOption((await option.getAttribute('value')) ?? '');
    // In another space, the agent reads that one.
    const elsewhere = page.getByRole('region', { name: 'Timeline text' }).getByText('The space "Daily" is active');
    await page.getByLabel('In space').selectOption('daily');
    await expect(elsewhere).toBeVisible();
    await page.getByLabel('In space').selectOption('team');
    await expect(elsewhere).toHaveCount(0);
    await page.getByRole('radio', { name: 'Messages', exact: true }).click();
    const sent = page.getByRole('region', { name: 'Messages as sent' });
    await expect(sent).toContainText('[Sarah (human)] Deploy, please.');
    await unfold(sent);
    const shown = await sent.locator('pre').allInnerTexts();
    const performer = { provider: 'anthropic', model: 'm' };
    await call('runner.setPolicy', { rules: [{ for: { space: 'team' }, performer }] });
    await expect(chat.getByText(/Waiting for Sarah until/)).toBeVisible();
    const jobs = (await call('runner.list', {})) as unknown as { commits: string[] }[];
    const commit = jobs[0]?.commits.at(-1) ?? '';
    await page.goto(page.url().replace(/#.*/, `#/request?project=${encodeURIComponent(dir)}&commit=${commit}`));
    const request = page.getByRole('region', { name: 'Requests' });
    await request.getByRole('button', { name: 'Show request' }).click();
    await expect(request).toContainText('currentTime');
    await unfold(request);
    const recorded = withoutNow((await request.textContent()) ?? '');
    for (const text of shown) expect(recorded).toContain(withoutNow(text));
    await page.goBack();
    // The newest message is the agent's own question, which starts no call of it.
    await expect(page.getByText('Nothing starts this call now: Bot waits here for an answer, which resumes its run.')).toBeVisible();
    await page.getByRole('button', { name: 'Show the waiting run' }).click();
    await expect(page.getByLabel('Timeline of').locator('option:checked')).toContainText('Bot');
    await write('main');
    await expect(chat.getByText('Deploying main.')).toBeVisible();
    await openAgents(page, 'Jobs');
    const ended = page.getByRole('navigation', { name: 'Jobs by state' }).getByRole('region', { name: 'Ended, 2 jobs' });
    await expect(ended.getByText('finished')).toHaveCount(2);
    await page.getByRole('complementary', { name: 'Facts of the job' }).getByRole('button', { name: 'The space' }).click();
    await expect(chat.getByText('Deploying main.')).toBeVisible();
    expect(met).toEqual([]);
  } finally {
    server.close();
  }
});

test('[W66] Handovers and Reviews follow jobs that start by themselves', { tag: '@long' }, async ({ page, machine }) => {
  const met = complaints(page);
  const seen = Promise.withResolvers<void>();
  const server = await modelServer(async (response, { body }) => {
    if (!body.stream) return stream(response, []);
    if (JSON.stringify(body).includes('Count the orders')) {
      await seen.promise;
      return void response.writeHead(400).end('{"error":{"message":"No such model."}}');
    }
    stream(response, messageEvents({ text: 'Done.' }));
  });
  Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: server.url });
  try {
    const { dir, call } = await agentsWindow(page, machine);
    await call('profile.put', { name: 'Ops', card: { content: { kind: 'json', data: { name: 'Ops' } } } });
    const before = await call('ticket.create', { title: 'Add a clock', type: 'chore' });
    const { ticketId } = await call('ticket.create', { title: 'Retry calls', type: 'task', dependsOn: [before.ticketId], by: '@pm' });
    await call('ticket.transition', { ticketId: before.ticketId, to: 'in_progress', assignee: '@pm' });
    await openAgents(page, 'Handovers');
    await call('handover.launchPrincipal', { profileName: 'Ops', instruction: 'Deploy the queue' });
    await call('handover.launchPrincipal', { profileName: 'Ops', instruction: 'Count the orders' });
    const turn = (name: string) => page.getByRole('option', { name: new RegExp(name) });
    await expect(turn('Deploy the queue')).toContainText('dispatched');
    await turn('Count the orders').click();
    const pane = page.getByRole('complementary', { name: 'Handover' });
    await expect(pane.getByRole('button', { name: 'Run here…' })).toBeVisible();
    const performer = { provider: 'anthropic', model: 'm' };
    await call('runner.setPolicy', {
      rules: [
        { for: { agent: 'Ops' }, performer },
        { for: { ticketType: 'task' }, performer },
      ],
    });
    await expect(turn('Deploy the queue')).toContainText('success');
    // What a job carries out is not offered again until it ends.
    await expect(pane.getByRole('button', { name: /, running$/ })).toBeVisible();
    await expect(pane.getByRole('button', { name: 'Run here…' })).toHaveCount(0);
    seen.resolve();
    await expect(turn('Count the orders')).toContainText('failed');
    await pane.getByRole('button', { name: /, failed$/ }).click();
    await expect(page.getByRole('region', { name: 'What the job does' })).toContainText('No such model.');

    await page.goto(page.url().replace(/#.*/, `#/reviews?project=${encodeURIComponent(dir)}&ticket=${ticketId}`));
    const ticket = page.getByRole('region', { name: /Retry calls$/ });
    await expect(ticket).toBeVisible();
    await call('ticket.transition', { ticketId: before.ticketId, to: 'closed', resolution: 'Added.' });
    await ticket.getByRole('button', { name: /, finished$/ }).click();
    await page
      .getByRole('complementary', { name: 'Facts of the job' })
      .getByRole('button', { name: /^The ticket/ })
      .click();
    await expect(ticket).toBeVisible();
    expect(met).toEqual([]);
  } finally {
    server.close();
  }
});
