import { expect, test } from 'vitest';
import { checkpoint, outlineRows } from '../../../src/core/chain/index.js';
import { exportContext } from '../../../src/core/export/index.js';
import { commandIn, commandOutputIn } from '../../../src/core/formats/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';

const command = '<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>opus</command-args>';

test('[W39] an exported outline lists the prompts of the app, without tags', () => {
  const chain = emptyChain();
  const shared = { type: 'delta', format: 'claude-code-v1', template: 'claude-code', checkpoint: 'turn_boundary' } as const;
  const first = checkpoint(chain, {
    ...shared,
    parent: null,
    text:
      prompt('m1', '<system-reminder>Nobody typed this.</system-reminder>') +
      prompt('u1', 'fix it', { parent: 'm1' }) +
      answer('a1', 'fixed', { parent: 'u1' }),
  });
  const second = checkpoint(chain, {
    ...shared,
    parent: first.id,
    text: prompt('c1', command, { parent: 'a1' }) + prompt('o1', '<local-command-stdout>Set model to opus</local-command-stdout>', { parent: 'c1' }),
  });
  const page = exportContext(chain, { id: second.id, format: 'html' }).text ?? '';
  const index = JSON.parse(/<script type="application\/json" id="index">(.*?)<\/script>/s.exec(page)?.[1] ?? '{}') as {
    prompts: [number, string][];
  };
  expect(index.prompts.map(([, head]) => head)).toEqual(['fix it', '/model opus']);
  expect(
    outlineRows(chain, { id: second.id })
      .rows.filter((row) => row.prompt)
      .map((row) => row.key),
  ).toEqual(['u1.0', 'c1.0']);
  const items = [...page.matchAll(/<script type="application\/json" class="block">(.*?)<\/script>/gs)].flatMap(([, text]) =>
    JSON.parse(text ?? '[]'),
  );
  expect(items.map(({ command: typed, output }) => [typed, output]).slice(3)).toEqual([
    ['/model opus', undefined],
    [undefined, 'Set model to opus'],
  ]);
});

test('[W39] commands, shell lines and their output are read out of their tags', () => {
  expect(commandIn(command)).toBe('/model opus');
  expect(commandIn('<bash-input>ls -la</bash-input>')).toBe('! ls -la');
  expect(commandIn('look at <command-name>')).toBeUndefined();
  expect(commandOutputIn('<bash-stdout>a\nb</bash-stdout><bash-stderr></bash-stderr>')).toBe('a\nb');
  expect(commandOutputIn('plain')).toBeUndefined();
});
