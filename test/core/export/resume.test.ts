import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey } from '../../../src/core/base/index.js';
import { checkpoint, fork, tips } from '../../../src/core/chain/index.js';
import { runtimes } from '../../../src/core/contract/index.js';
import { checkFolder, resumeIn } from '../../../src/core/export/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

const twoTurns = (chain: ReturnType<typeof emptyChain>) => {
  const shared = { type: 'delta', format: 'claude-code-v1', template: 'claude-code', checkpoint: 'turn_boundary' } as const;
  const first = checkpoint(chain, { ...shared, parent: null, text: prompt('u1', 'fix it') + answer('a1', 'fixed', { parent: 'u1' }) });
  return checkpoint(chain, {
    ...shared,
    parent: first.id,
    text: prompt('u2', 'now test it', { parent: 'a1' }) + answer('a2', 'tested', { parent: 'u2' }),
  });
};

const edited = (text: string) => [{ op: 'replace' as const, key: 'u2.0' as EntryKey, entry: { role: 'user' as const, kind: 'text' as const, text } }];

describe('a fork that ends on an edited prompt', () => {
  test.each(runtimes)('[W36] is resumed in %s with the prompt in the command, not in the file', (agent) => {
    const chain = emptyChain();
    const root = scratch();
    const tip = twoTurns(chain);
    const made = fork(chain, { id: tip.id, at: 'u2.0' as EntryKey, edits: edited("test it, and don't stop") });
    const resumed = resumeIn(chain, [{ agent, root }], { id: made.id, agent, cwd: root });
    expect(resumed.prompt).toBe("test it, and don't stop");
    expect(resumed.command).toContain(`'test it, and don'\\''t stop'`);
    const file = readFileSync(resumed.path, 'utf8');
    expect(file).toContain('fixed');
    expect(file).not.toContain('and don');
  });

  test('[W36] several prompts at the end become one, and none of them stays in the file', () => {
    const chain = emptyChain();
    const added = { op: 'append' as const, entry: { role: 'user' as const, kind: 'text' as const, text: 'and hurry' } };
    const made = fork(chain, { id: twoTurns(chain).id, at: 'u2.0' as EntryKey, edits: [...edited('test all of it'), added] });
    const resumed = resumeIn(chain, [{ agent: 'claude-code', root: scratch() }], { id: made.id, cwd: '/x' });
    expect(resumed.prompt).toBe('test all of it\n\nand hurry');
    expect(readFileSync(resumed.path, 'utf8')).not.toMatch(/test all of it|and hurry/);
  });

  test('[W36] a prompt that starts with a hyphen is no option of the agent', () => {
    const chain = emptyChain();
    const made = fork(chain, { id: twoTurns(chain).id, at: 'u2.0' as EntryKey, edits: edited('--help me') });
    const resumed = resumeIn(chain, [{ agent: 'claude-code', root: scratch() }], { id: made.id, cwd: '/x' });
    expect(resumed.command).toMatch(/claude --resume \S+ ' --help me'$/);
  });

  test('[W36] a context of the agent itself, or one that ends on a reply, passes no prompt', () => {
    const chain = emptyChain();
    const root = scratch();
    const tip = twoTurns(chain);
    const cut = fork(chain, { id: tip.id, at: 'a1.0' as EntryKey });
    for (const id of [tip.id, cut.id]) {
      const resumed = resumeIn(chain, [{ agent: 'claude-code', root }], { id, cwd: root });
      expect(resumed.prompt).toBeUndefined();
      expect(resumed.command).toBe(`cd ${root} && claude --resume ${resumed.sessionId}`);
    }
  });
});

describe('the folder of a resumed session', () => {
  test('[W37] a dry run says whether the folder exists and writes nothing', () => {
    const chain = emptyChain();
    const root = scratch();
    const tip = twoTurns(chain);
    const roots = [{ agent: 'claude-code' as const, root }];
    expect(resumeIn(chain, roots, { id: tip.id, cwd: '/does/not/exist', dryRun: true })).toMatchObject({ cwdExists: false });
    expect(existsSync(join(root, 'projects'))).toBe(false);
    const folder = join(root, 'work');
    mkdirSync(folder);
    expect(resumeIn(chain, roots, { id: tip.id, cwd: folder, dryRun: true })).toMatchObject({ cwd: folder, cwdExists: true });
  });

  test('[O8] a WSL session continues in its own Linux system, in the shell of the person', () => {
    const chain = emptyChain();
    const home = '\\\\wsl.localhost\\Ubuntu\\home\\me';
    const file = join(scratch(), 's1.jsonl');
    writeFileSync(file, prompt('u1', 'fix it') + answer('a1', 'fixed', { parent: 'u1' }));
    importInto(chain, file);
    const id = tips(chain, {})[0]?.id as ContextId;
    const path = `${home}\\.claude\\projects\\-home-me-it-s\\s1.jsonl`;
    chain.db.run('UPDATE source SET path = ?, cwd = ?', path, "/home/me/it's");
    const roots = [
      { agent: 'claude-code' as const, root: 'C:\\Users\\me\\.claude' },
      { agent: 'claude-code' as const, root: '\\\\wsl.localhost\\Debian\\home\\me\\.claude' },
      { agent: 'claude-code' as const, root: `${home}\\.claude` },
    ];
    const inside = resumeIn(chain, roots, { id, dryRun: true }, undefined, 'windows');
    expect(inside).toMatchObject({ cwd: "/home/me/it's", folder: `${home}\\it's`, path: expect.stringContaining(`${home}\\.claude`) });
    expect(inside.commands).toEqual([
      [
        ...['wsl.exe', '--distribution', 'Ubuntu', '--cd', "/home/me/it's", '--exec', 'sh', '-c'],
        `exec "\${SHELL:-/bin/sh}" -lic 'claude --resume ${inside.sessionId}'`,
      ],
    ]);
    // A person who gives a folder of Windows wants the agent of Windows.
    const outside = resumeIn(chain, roots, { id, dryRun: true, cwd: 'C:\\work' }, undefined, 'windows');
    expect(outside).toMatchObject({
      folder: 'C:\\work',
      path: expect.stringContaining('C:\\Users\\me\\.claude'),
      commands: [['claude', '--resume', outside.sessionId]],
    });
  });

  test('[W37] no terminal is opened in a folder that does not exist', () => {
    expect(() => checkFolder('/does/not/exist')).toThrow(/does not exist on this machine/);
    expect(() => checkFolder(scratch())).not.toThrow();
  });
});
