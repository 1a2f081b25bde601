import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasAgent, unlessHere } from '../../support/agents.js';
import { expectAccessible } from '../../support/axe.js';
import { expect, test } from '../../support/e2e.js';
import type { Machine } from '../../support/machine.js';
import { codexSettings, commandOf, type Said, standIn } from '../../support/stand-in.js';
import { agentsWindow, complaints, entries, place, sheet } from '../../support/window.js';

type Agent = 'claude-code' | 'codex';

/** Each reply of a model follows one more result of a tool. */
const agents: Readonly<Record<Agent, { name: 'claude' | 'codex'; title: string; tool: string; command: (text: string) => Said; result: string }>> = {
  'claude-code': {
    ...{ name: 'claude', title: 'Claude Code', tool: 'Bash', result: '"tool_result"' },
    command: (text) => ({ tools: [{ name: 'Bash', input: { command: text, description: 'Make a file' } }] }),
  },
  codex: {
    ...{ name: 'codex', title: 'Codex', tool: 'shell', result: '"function_call_output"' },
    command: (text) => ({ tools: [{ name: 'exec_command', input: { cmd: text } }] }),
  },
};

/** The stand-in model, and the settings with which the agent uses it. */
async function modelOf(agent: Agent, machine: Machine) {
  const { command, result } = agents[agent];
  const replies = [command('echo done > made.txt'), command('echo no > refused.txt'), { text: 'One file is made.' }];
  // Requests for a title or a summary get words.
  const model = await standIn((_text, body) => {
    const { messages, input } = body as { messages?: unknown; input?: unknown };
    const said = JSON.stringify(messages ?? input ?? '');
    return said.includes('Make the file.') ? (replies[said.split(result).length - 1] ?? { text: 'Done.' }) : { text: 'Files' };
  });
  const home = join(machine.dir, '.codex');
  if (agent === 'codex') {
    mkdirSync(home);
    writeFileSync(join(home, 'config.toml'), codexSettings(model.url));
  }
  const own =
    agent === 'codex'
      ? { CODEX_HOME: home, CODEX_STAND_IN: 'x' }
      : {
          ANTHROPIC_BASE_URL: model.url,
          ANTHROPIC_API_KEY: 'sk-none',
          CLAUDE_CONFIG_DIR: machine.claude,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        };
  Object.assign(machine.env, commandOf(agent), own);
  return model;
}

for (const agent of ['claude-code', 'codex'] as const) {
  const { name, title, tool } = agents[agent];
  test(`[U3][W66] a person answers the permission requests of ${title} in the window${unlessHere(name)}`, { tag: '@long' }, async ({
    page,
    machine,
  }) => {
    test.skip(!hasAgent(name), `${title} is not installed for tests on this machine.`);
    const met = complaints(page);
    const model = await modelOf(agent, machine);
    try {
      const { call } = await agentsWindow(page, machine);
      const append = (role: string, text: string) => ({ op: 'append', entry: { role, kind: 'text', text } });
      await call('context.fork', {
        id: null,
        edits: [append('user', 'The secret word is FERN.'), append('assistant', 'Noted.'), append('user', 'Make the file.')],
      });
      await page.reload();
      await place(page, 'Chain').click();
      await page.getByRole('option', { name: /Make the file/ }).click();
      await page.getByRole('region', { name: 'Commit', exact: true }).getByRole('button', { name: 'Run here…' }).click();
      await sheet(page).getByRole('combobox', { name: 'Who works' }).selectOption({ label: 'A command-line agent on this machine' });
      await sheet(page)
        .getByRole('combobox', { name: /^Agent/ })
        .selectOption({ label: title });
      await sheet(page)
        .getByRole('combobox', { name: /^Folder/ })
        .fill(machine.cwd);
      await sheet(page).getByRole('button', { name: 'Run', exact: true }).click();

      const list = page.getByRole('navigation', { name: 'Jobs by state' });
      await expect(list.getByRole('region', { name: 'Needs an answer, 1 job' })).toBeVisible();
      const question = page.getByRole('region', { name: /asks$/ });
      await expect(question).toContainText('echo done > made.txt');
      expect(existsSync(join(machine.cwd, 'made.txt'))).toBe(false);
      await expectAccessible(page, '.jobs');
      await question.getByRole('button', { name: 'Allow once' }).click();
      await expect(question).toContainText('echo no > refused.txt');
      expect(existsSync(join(machine.cwd, 'made.txt'))).toBe(true);
      await question.getByRole('textbox', { name: /^Reason, if you deny/ }).fill('One file is enough.');
      await question.getByRole('button', { name: 'Deny' }).click();
      await expect(list.getByRole('region', { name: 'Ended, 1 job' })).toContainText('finished');
      expect(existsSync(join(machine.cwd, 'refused.txt'))).toBe(false);
      // Codex has no place for a reason.
      if (agent === 'claude-code') expect(JSON.stringify(model.seen.at(-1)).includes('One file is enough.')).toBe(true);
      await expect(page.getByRole('log', { name: 'Stream' })).toContainText(`A person refused ${tool}: One file is enough.`);

      // The job leads to its result, and the result to its job.
      await page.getByRole('button', { name: 'Result in Context' }).click();
      await expect(entries(page)).toContainText('One file is made.');
      await page
        .getByRole('region', { name: 'Commit', exact: true })
        .getByRole('button', { name: /, finished$/ })
        .click();
      await expect(page.getByRole('region', { name: 'What the job does' })).toContainText('Answer to: Make the file.');
      expect(met).toEqual([]);
    } finally {
      model.close();
    }
  });
}
