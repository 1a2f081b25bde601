import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/main/cli/errors.js';
import { setPolicyOf } from '../../src/main/cli/policy-file.js';
import { door } from '../support/door.js';

const space = { for: { space: 's' }, performer: { provider: 'x' } };
const agent = { agent: 'codex', folder: '/w' };

test.for([
  ['is not JSON', '{', 'cannot read the policy', 'JSON at position 1'],
  ['is a list', [], 'expected object', 'The policy is [].'],
  ['has no list of rules', { rules: 3 }, 'rules: Invalid input: expected array', 'rules is 3.'],
  ['is for everything', { rules: [{ ...space, for: { all: true } }] }, 'exactly one of agent, space, ticketType', 'rules.0.for is {"all":true}.'],
  ['has an unknown field', { rules: [{ ...space, command: 'rm' }] }, 'Unrecognized key: "command"', 'rules.0.command is "rm".'],
  ['names no performer', { rules: [{ for: space.for }] }, 'performer: must be a model', 'rules.0 is {"for":{"space":"s"}}.'],
  ['has a limit of 0', { rules: [{ ...space, limits: { calls: 0 } }] }, 'expected number to be >=1', 'rules.0.limits.calls is 0.'],
  ['runs other tools', { rules: [{ ...space, otherTools: 'run' }] }, 'expected one of "ask"|"stop"', 'rules.0.otherTools is "run".'],
  ['has a number in words', { rules: [], parallel: 'two' }, 'parallel: Invalid input: expected number', 'parallel is "two".'],
  [
    'lets an agent run an experiment',
    { rules: [{ for: { experiment: 'e' }, performer: agent }] },
    'performer: must be a model',
    `rules.0.performer is ${JSON.stringify(agent)}.`,
  ],
] as const)('[U1] a policy file that %s is refused with its field and value', async ([, policy, ...words], { expect }) => {
  const { client, folder } = door();
  const file = join(folder, 'policy.json');
  writeFileSync(file, typeof policy === 'string' ? policy : JSON.stringify(policy));
  const refused = (await setPolicyOf(client, file).catch((error: unknown) => error)) as Error;
  expect(refused).toBeInstanceOf(UsageError);
  for (const word of words) expect(refused.message).toContain(word);
  expect(await client.runner.getPolicy({})).toEqual({ rules: [] });
});

test('[U1] a policy file that does not exist is refused', async () => {
  const { client, folder } = door();
  await expect(setPolicyOf(client, join(folder, 'no.json'))).rejects.toThrow('no.json: the file does not exist.');
});
