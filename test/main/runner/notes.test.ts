import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openGit } from '../../../src/main/runner/index.js';
import { door } from '../../support/door.js';
import { isInstalled } from '../../support/machine.js';
import { scratch } from '../../support/project.js';
import { laterRefusal } from '../../support/refusal.js';

const hasGit = isInstalled('git');

/** A line of a Claude Code session that writes a file. */
const wrote = (id: string, file: string, content: string): string =>
  [
    { type: 'user', uuid: `p-${id}`, parentUuid: null, message: { role: 'user', content: 'Write it' } },
    {
      ...{ type: 'assistant', uuid: `a-${id}`, parentUuid: `p-${id}` },
      message: {
        ...{ id: `m-${id}`, role: 'assistant', model: 'claude-opus-4-5' },
        content: [{ type: 'tool_use', id: `t-${id}`, name: 'Write', input: { file_path: file, content } }],
      },
    },
    {
      ...{ type: 'user', uuid: `r-${id}`, parentUuid: `a-${id}` },
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t-${id}`, content: 'done' }] },
    },
  ]
    .map((line) => `${JSON.stringify({ ...line, sessionId: id, timestamp: '2026-03-01T10:00:00.000Z' })}\n`)
    .join('');

/** A repository with two files of recorded sessions, one by hand, and a commit. */
async function world() {
  const repository = scratch();
  const git = (...words: string[]): string => execFileSync('git', ['-C', repository, ...words], { encoding: 'utf8' }).trim();
  git('init', '--quiet');
  git('config', 'user.name', 'Ann');
  git('config', 'user.email', 'ann@example.org');
  mkdirSync(join(repository, 'src'));
  const files = { 'src/ä one.ts': 'one\ntwo\n', 'two.ts': 'three\n', 'by-hand.ts': 'four\n' };
  const history = scratch();
  for (const [place, [name, content]] of Object.entries(files).entries()) {
    writeFileSync(join(repository, name), content);
    if (name !== 'by-hand.ts') writeFileSync(join(history, `s${place}.jsonl`), wrote(`s${place}`, join(repository, name), content));
  }
  git('add', '.');
  git('commit', '--quiet', '--message', 'Begin');
  const { client } = door({ git: openGit({ env: process.env }, scratch(), { isOffline: true }) });
  for await (const _ of await client.import.run({ paths: [history] }));
  return { client, repository, git, at: (name: string) => join(repository, name), head: git('rev-parse', 'HEAD') };
}

const pathsIn = (note: string | null): string[] => (JSON.parse(note ?? '{}').files ?? []).map(({ path }: { path: string }) => path);

describe.skipIf(!hasGit)('notes of git (needs git)', () => {
  test('[G4] a note is shown first, written when it is asked for, and read back by git', { tags: 'long' }, async () => {
    const { client, git, at, head, repository } = await world();
    const shown = await client.blame.notes({ path: at('src/ä one.ts') });
    expect(shown).toMatchObject({ ref: 'refs/notes/stemma', commit: head, before: null, written: false });
    expect(() => git('rev-parse', '--verify', '--quiet', 'refs/notes/stemma')).toThrow();
    const written = await client.blame.notes({ path: 'src/ä one.ts', repository, write: true });
    expect(written).toEqual({ ...shown, written: true });
    expect(`${git('notes', '--ref=stemma', 'show', head)}\n`).toBe(shown.note);
    const record = JSON.parse(shown.note ?? '') as { vcs: object; files: { conversations: { ranges: object[] }[] }[] };
    expect(record).toMatchObject({ version: '0.1.0', vcs: { type: 'git', revision: head }, files: [{ path: 'src/ä one.ts' }] });
    expect(record.files[0]?.conversations[0]?.ranges).toMatchObject([{ start_line: 1, end_line: 2 }]);
    // The same facts are the same note: nothing is written again.
    const notes = git('rev-parse', 'refs/notes/stemma');
    expect(await client.blame.notes({ path: at('src/ä one.ts'), write: true })).toMatchObject({
      before: shown.note,
      note: shown.note,
      written: false,
    });
    expect(git('rev-parse', 'refs/notes/stemma')).toBe(notes);
  });

  test('[G4] the records of other files stay, and the folder of the repository may be one below', { tags: 'long' }, async () => {
    const { client, git, at, head } = await world();
    await client.blame.notes({ path: at('two.ts'), write: true });
    const { note } = await client.blame.notes({ path: 'ä one.ts', repository: at('src'), commit: head.slice(0, 10), write: true });
    expect(pathsIn(note)).toEqual(['src/ä one.ts', 'two.ts']);
    expect(git('notes', '--ref=stemma', 'list').split('\n')).toHaveLength(1);
    expect(git('status', '--porcelain')).toBe('');
  });

  test('[G4] a file that nobody recorded has no note, and a changed one none of this commit', { tags: 'long' }, async () => {
    const { client, git, at, head } = await world();
    expect(await client.blame.notes({ path: at('by-hand.ts'), write: true })).toMatchObject({ note: null, written: false });
    writeFileSync(at('two.ts'), 'three\nchanged\n');
    writeFileSync(at('new.ts'), 'x\n');
    for (const [input, field] of [
      [{ path: at('two.ts') }, 'path'],
      [{ path: at('new.ts') }, 'path'],
      [{ path: at('src/ä one.ts'), commit: 'deadbeef' }, 'commit'],
      [{ path: at('src/ä one.ts'), commit: '--help' }, 'commit'],
    ] as const)
      expect(await laterRefusal(client.blame.notes({ ...input, write: true })), input.path).toMatchObject({ code: 'BAD_REQUEST', data: { field } });
    const alone = join(scratch(), 'alone.ts');
    writeFileSync(alone, 'x\n');
    expect(await laterRefusal(client.blame.notes({ path: alone }))).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'path' } });
    expect(() => git('rev-parse', '--verify', '--quiet', 'refs/notes/stemma')).toThrow();
    expect(head).toHaveLength(40);
  });

  test('[G4] a note of another kind is not replaced', async () => {
    const { client, git, at, head } = await world();
    git('notes', '--ref=stemma', 'add', '-m', 'Mine', head);
    expect(await laterRefusal(client.blame.notes({ path: at('two.ts'), write: true }))).toMatchObject({ code: 'CONFLICT' });
    expect(git('notes', '--ref=stemma', 'show', head)).toBe('Mine');
  });

  test('[G4] no hook, monitor, filter, signer or transport of the repository is run', { tags: 'long' }, async () => {
    const { client, git, at, repository } = await world();
    const proof = join(scratch(), 'ran');
    const program = join(scratch(), 'program');
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${proof}'\n`);
    chmodSync(program, 0o700);
    mkdirSync(join(repository, '.git', 'hooks'), { recursive: true });
    for (const hook of ['reference-transaction', 'post-commit', 'pre-commit', 'commit-msg', 'prepare-commit-msg', 'post-index-change'])
      writeFileSync(join(repository, '.git', 'hooks', hook), `#!/bin/sh\necho ${hook} >> '${proof}'\n`, { mode: 0o700 });
    for (const [name, value] of [
      ['core.fsmonitor', program],
      ['core.editor', program],
      ['core.pager', program],
      ['core.sshCommand', program],
      ['gpg.program', program],
      ['commit.gpgSign', 'true'],
      ['diff.external', program],
      ['filter.x.clean', program],
      ['filter.x.smudge', program],
      ['remote.origin.url', 'ssh://nowhere.invalid/x'],
      ['remote.origin.promisor', 'true'],
      ['remote.origin.partialCloneFilter', 'blob:none'],
      ['protocol.ext.allow', 'always'],
    ] as const)
      git('config', name, value);
    writeFileSync(join(repository, '.git', 'info', 'attributes'), '* filter=x diff=x\n');
    await client.blame.notes({ path: at('two.ts'), write: true });
    // Git must not fetch the missing blob.
    const blob = git('rev-parse', 'HEAD:two.ts');
    rmSync(join(repository, '.git', 'objects', blob.slice(0, 2), blob.slice(2)));
    expect(await laterRefusal(client.blame.notes({ path: at('two.ts'), write: true }))).toMatchObject({ code: 'BAD_REQUEST' });
    expect(existsSync(proof) ? readFileSync(proof, 'utf8') : '').toBe('');
  });

  test('[G4] without git, and without a name for its author, the refusal says so', { tags: 'long' }, async () => {
    const { client, git, at } = await world();
    git('config', 'user.useConfigOnly', 'true');
    git('config', '--unset', 'user.name');
    git('config', '--unset', 'user.email');
    expect(await laterRefusal(client.blame.notes({ path: at('two.ts'), write: true }))).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('git wrote no note'),
    });
    const none = door({ git: openGit({ env: { PATH: scratch() } }, scratch()) });
    expect(await laterRefusal(none.client.blame.notes({ path: at('two.ts') }))).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('git is not installed'),
    });
  });
});
