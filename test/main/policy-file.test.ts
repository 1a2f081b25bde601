import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { UsageError } from '../../src/main/cli/errors.js';
import { setPolicyOf } from '../../src/main/cli/serve.js';
import { door } from '../support/door.js';

const space = { for: { space: 's' }, performer: { provider: 'x' } };
const agent = { agent: 'codex', folder: '/w' };

test.for([
  ['is not JSON', '{', 'cannot read the policy', 'JSON at position 1'],
  ['is a list', [], 'The input is []. It must be an object.'],
  ['has no list of rules', { rules: 3 }, 'rules is 3. It must be a list.'],
  ['is for everything', { rules: [{ ...space, for: { all: true } }] }, 'exactly one of agent, space, ticketType', 'rules.0.for is {"all":true}.'],
  ['has an unknown field', { rules: [{ ...space, command: 'rm' }] }, 'rules.0.command is not a field. The fields are for, who, '],
  ['names no performer', { rules: [{ for: space.for }] }, 'rules.0.performer is missing. It must be a model'],
  ['has a limit of 0', { rules: [{ ...space, limits: { calls: 0 } }] }, 'rules.0.limits.calls is 0. It must be at least 1.'],
  ['runs other tools', { rules: [{ ...space, otherTools: 'run' }] }, 'rules.0.otherTools is "run". It must be "ask" or "stop".'],
  ['has a number in words', { rules: [], parallel: 'two' }, 'parallel is "two". It must be a number.'],
  [
    'lets an agent run an experiment',
    { rules: [{ for: { experiment: 'e' }, performer: agent }] },
    `rules.0.performer is ${JSON.stringify(agent)}. It must be a model`,
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
