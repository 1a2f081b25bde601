import { expect, test } from 'vitest';
import { environmentFor, mcpServer } from '../../../src/main/runner/machine.js';

const env = {
  PATH: process.env.PATH,
  ANTHROPIC_API_KEY: 'a',
  OPENAI_API_KEY: 'o',
  GEMINI_API_KEY: 'g',
  STEMMA_HOME: '/data',
  STEMMA_TOKEN: 't',
  LANG: 'C',
};
const machine = { env, stemma: ['node', 'stemma.js'] } as const;

test('[U3] an agent sees no key of another provider and nothing of Stemma', () => {
  expect(Object.keys(environmentFor(machine, 'anthropic'))).toEqual(['PATH', 'ANTHROPIC_API_KEY', 'LANG']);
  expect(Object.keys(environmentFor(machine, 'openai'))).toEqual(['PATH', 'OPENAI_API_KEY', 'LANG']);
});

test('[U6] the server of a job acts for its agent, with the chosen tools', () => {
  expect(mcpServer(machine, { project: '/p', tools: ['runs', 'search'], as: 'bot', runId: 'run-1' })).toEqual({
    command: 'node',
    args: ['stemma.js', 'mcp', '--project', '/p', '--tools', 'runs,search', '--as=bot', '--run=run-1'],
    env: { STEMMA_HOME: '/data' },
  });
  expect(mcpServer({ ...machine, env: {} }, { project: '/p', tools: [], as: null, runId: null })).toEqual({
    command: 'node',
    args: ['stemma.js', 'mcp', '--project', '/p'],
    env: {},
  });
});
