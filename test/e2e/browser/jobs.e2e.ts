import { expect, test } from '../../support/e2e.js';
import { messageEvents, modelServer, stream } from '../../support/model-server.js';
import { agentsWindow, complaints, openAgents } from '../../support/window.js';

test('[W66][U5] a reply in the window resumes the run that waits for it', async ({ page, machine }) => {
  const met = complaints(page);
  const server = await modelServer((response, { body }) => {
    const said = JSON.stringify(body.messages ?? '');
    if (!body.stream) return stream(response, []);
    if (said.includes('Deploying main.')) return stream(response, messageEvents({ text: 'Done.' }));
    const input = said.includes('RESUME') ? { text: 'Deploying main.' } : { text: 'Which branch?', wait_for: 'Sarah' };
    stream(response, messageEvents({ tool: 'send_message', input, id: `toolu_${said.length}` }));
  });
  Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: server.url });
  try {
    const { dir, call } = await agentsWindow(page, machine);
    await call('space.addEntity', { entityId: 'sarah', name: 'Sarah', type: 'human' });
    await call('space.addEntity', { entityId: 'bot', name: 'Bot', type: 'agent' });
    await call('space.create', { spaceId: 'team', name: 'Team', members: ['sarah', 'bot'] });
    const performer = { provider: 'anthropic', model: 'm' };
    await call('runner.setPolicy', { rules: [{ for: { space: 'team' }, performer }] });
    await page.goto(page.url().replace(/#.*/, `#/timeline?project=${encodeURIComponent(dir)}&space=team`));
    await page.reload();
    const chat = page.getByRole('region', { name: 'Messages', exact: true });
    const write = async (text: string): Promise<void> => {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    };
    await page.getByLabel('Write as').selectOption({ label: 'Sarah (human)' });
    await write('Deploy, please.');
    await expect(chat.getByText(/Waiting for Sarah until/)).toBeVisible();
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
