import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasAgent, unlessHere } from '../../support/agents.js';
import { expect, test } from '../../support/e2e.js';
import { messageEvents, modelServer, stream } from '../../support/model-server.js';
import { codexSettings, commandOf, type Said, standIn } from '../../support/stand-in.js';
import { agentsWindow, complaints, entries, openAgents, sheet } from '../../support/window.js';

/** Changes a file with a command, as each agent names it, and then says so. */
const works: Readonly<Record<'claude-code' | 'codex', Said>> = {
  'claude-code': { tools: [{ name: 'Bash', input: { command: 'echo done > made.txt', description: 'Make it' } }] },
  codex: { tools: [{ name: 'exec_command', input: { cmd: 'echo done > made.txt' } }] },
};

for (const [agent, name, short] of [
  ['claude-code', 'Claude Code', 'claude'],
  ['codex', 'Codex', 'codex'],
] as const)
  test(`[W66][U3] the real ${name} asks in the window, and obeys${unlessHere(short)}`, async ({ page, machine }) => {
    test.skip(!hasAgent(short), 'the real agent is not on this machine');
    const met = complaints(page);
    const model = await standIn((_text, body) => {
      const { messages, input } = body as { messages?: unknown; input?: unknown };
      return /tool_result|function_call_output/.test(JSON.stringify(messages ?? input)) ? { text: 'The work is done.' } : works[agent];
    });
    try {
      const folder = machine.path('work', 'app');
      for (const each of [folder, machine.path('.codex')]) mkdirSync(each);
      writeFileSync(machine.path('.codex', 'config.toml'), codexSettings(model.url));
      Object.assign(machine.env, commandOf(agent), {
        ...{ CLAUDE_CONFIG_DIR: machine.claude, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-none' },
        ...{ CODEX_HOME: machine.path('.codex'), CODEX_STAND_IN: 'x', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
      });
      const { dir, call } = await agentsWindow(page, machine);
      const edits = [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Please do the work.' } }];
      const { id } = await call('context.fork', { id: null, edits });
      await page.goto(page.url().replace(/#.*/, `#/context?project=${encodeURIComponent(dir)}&commit=${id}`));
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Run here…' }).click();
      await sheet(page).getByRole('combobox', { name: 'Who works' }).selectOption('agent');
      await sheet(page).getByRole('combobox', { name: 'Agent', exact: true }).selectOption(agent);
      await sheet(page).getByRole('textbox', { name: 'Folder' }).fill(folder);
      await sheet(page).getByRole('button', { name: 'Run', exact: true }).click();

      const question = page.getByRole('region', { name: /asks$/ });
      await expect(question).toContainText('echo done > made.txt');
      expect(existsSync(join(folder, 'made.txt'))).toBe(false);
      await question.getByRole('button', { name: 'Allow once' }).click();
      await expect(page.getByRole('log', { name: 'Stream' })).toContainText('The work is done.');
      await expect(page.getByRole('navigation', { name: 'Jobs by state' }).getByRole('region', { name: 'Ended, 1 job' })).toContainText('finished');
      expect(existsSync(join(folder, 'made.txt'))).toBe(true);
      await page.getByRole('button', { name: 'Result in Context' }).click();
      await expect(entries(page)).toContainText('The work is done.');
      expect(met).toEqual([]);
    } finally {
      model.close();
    }
  });

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
