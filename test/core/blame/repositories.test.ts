// Blame beside git: the edits of real sessions are carried out again in repositories of git, one commit for each.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { door } from '../../support/door.js';
import { scratch } from '../../support/project.js';

interface Line {
  readonly cwd: string;
  readonly message: { readonly content: string | readonly Block[] };
  readonly toolUseResult?: { readonly originalFile?: string | null };
}

interface Block {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly input: EditInput;
  readonly tool_use_id: string;
  readonly is_error?: boolean;
}

interface EditInput {
  readonly file_path: string;
  readonly content?: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean;
}

interface Change {
  readonly call: string;
  readonly path: string;
  readonly input: EditInput;
  /** The file before the edit, where the session holds it. */
  readonly original: string | undefined;
}

/** The successful edits of a session, in order. */
function changesIn(file: string): { readonly cwd: string; readonly changes: readonly Change[] } {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
  const cwd = lines[0]?.cwd ?? '';
  const calls = new Map<string, Block>();
  const changes: Change[] = [];
  for (const { message, toolUseResult } of lines)
    for (const block of typeof message.content === 'string' ? [] : message.content) {
      if (block.type === 'tool_use' && block.name !== 'Read') calls.set(block.id, block);
      const call = calls.get(block.tool_use_id);
      if (!call || block.is_error) continue;
      const path = call.input.file_path.slice(cwd.length + 1);
      changes.push({ call: call.id, path, input: call.input, original: toolUseResult?.originalFile ?? undefined });
    }
  return { cwd, changes };
}

const edited = (text: string, { old_string: from, new_string: to, replace_all: all }: EditInput): string =>
  all ? text.replaceAll(from, () => to) : text.replace(from, () => to);

/** Makes a repository in which each edit is a commit named like its call. What somebody else changed in between is a commit `by hand`. */
function replay(file: string) {
  const root = scratch();
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'core.autocrlf=false', ...words], { cwd: root, encoding: 'utf8', env });
  git('init', '-q');
  const texts = new Map<string, string>();
  const put = (path: string, text: string, name: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    texts.set(path, text);
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', name);
  };
  for (const { call, path, input, original } of changesIn(file).changes) {
    if (original !== undefined && texts.get(path) !== original) put(path, original, 'by hand');
    put(path, input.content ?? edited(texts.get(path) ?? '', input), call);
  }
  const blame = (path: string): string[] =>
    git('blame', '--line-porcelain', '--', path)
      .split('\n')
      .flatMap((line) => (line.startsWith('summary ') ? [line.slice(8)] : []));
  return { root, paths: [...texts.keys()], blame };
}

/** Lines by what blame and git say. `others`: of nobody, as git says too. `unknown`: of an edit that follows a read of only a part of its file. */
const sessions = [
  { name: 'f0c3dbdad0d8', expected: { same: 136, unknown: 0, others: 241, repeated: 0 } },
  { name: '5e5207b424e2', expected: { same: 14, unknown: 0, others: 567, repeated: 2 } },
  { name: '0cf3db51', expected: { same: 183, unknown: 20, others: 735, repeated: 0 } },
];

test.for(sessions)('[G1] the turns of the lines of $name are those of git blame', { tags: 'long' }, async ({ name, expected }) => {
  const file = join(import.meta.dirname, '..', '..', 'fixtures', 'blame', `${name}.jsonl`);
  const { root, paths, blame } = replay(file);
  const { client } = door();
  for await (const _ of await client.import.run({ paths: [file] }));
  const { rows } = await client.analysis.sql({ sql: "SELECT tool_call_id, commit_id FROM entries WHERE kind = 'tool_call'", limit: 10_000 });
  const turnOf = new Map(rows.map(([call, commit]) => [call, commit]));
  const counts = { same: 0, unknown: 0, others: 0, repeated: 0 };
  const wrong: unknown[] = [];
  for (const path of paths) {
    expect(existsSync(join(root, path))).toBe(true);
    const spans = await client.blame.file({ path: join(root, path) });
    const lines = readFileSync(join(root, path), 'utf8').split('\n');
    for (const [at, commit] of blame(path).entries()) {
      const found = spans.find(({ start, end }) => start <= at + 1 && at + 1 <= end)?.turnId ?? null;
      const turn = turnOf.get(commit) ?? null;
      if (found === null) counts[turn === null ? 'others' : 'unknown'] += 1;
      else if (found === turn) counts.same += 1;
      // Of equal lines, such as a brace, git may take another one for the added one.
      else if (lines.filter((line) => line.trim() === lines[at]?.trim()).length > 1) counts.repeated += 1;
      else wrong.push({ path, line: lines[at], found, turn });
    }
  }
  expect(wrong).toEqual([]);
  expect(counts).toEqual(expected);
});
