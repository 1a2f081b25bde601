import { join } from 'node:path';
import { badRequest, conflict, isObject, type Json, type JsonObject, parseJson, type StemmaError, toTimestamp, unavailable } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { InputOf, OutputOf } from '../contract/index.js';
import { findFile } from './blame.js';
import { conversationsOf, traceVersion } from './trace.js';

/**
 * Runs git in a folder, without the hooks and monitors of its repository, and returns what it prints. `input` is its standard input.
 * @throws an error with what git said
 */
export type Git = (folder: string, args: readonly string[], input?: string) => Promise<string>;

/** What writing notes needs: git, and a check that this connection may write files. */
interface NoteWriter {
  readonly git: Git;
  /** @throws UNAUTHORIZED where the connection may not write */
  readonly checkOutput: (path: string) => void;
}

const notesRef = 'refs/notes/stemma';

/**
 * The note of a commit of git with the Agent Trace record of a file, beside the records that it has of other files. With `write`, git writes it.
 * @throws BAD_REQUEST for a folder without git, an unknown commit, and a file that the commit has not as it is; CONFLICT for a note of another kind
 */
export async function noteFile(chain: ReadChain, writer: NoteWriter, input: InputOf<'blame.notes'>): Promise<OutputOf<'blame.notes'>> {
  const { git } = writer;
  const { root, name, text } = findFile(input);
  const ask = (args: readonly string[], refusal: (why: string) => StemmaError): Promise<string> => said(git(root, args), refusal);
  const noRepository = (why: string): StemmaError => badRequest('path', `No repository of git has ${name}: ${why}`);
  const repository = withoutNewline(await ask(['rev-parse', '--show-toplevel'], noRepository));
  const asked = input.commit ?? 'HEAD';
  const noCommit = (): StemmaError => badRequest('commit', `The repository ${repository} has no commit ${asked}.`);
  const commit = withoutNewline(await ask(['rev-parse', '--verify', `${asked}^{commit}`], noCommit));
  const noFile = (): StemmaError => badRequest('path', `The commit ${commit} has no file ${name}.`);
  const kept = await ask(['cat-file', 'blob', `${commit}:./${name}`], noFile);
  if (plain(kept) !== plain(text))
    throw badRequest('path', `${name} is not as the commit ${commit} has it. Commit it first, or name the commit that has it so.`);
  const inside = `${withoutNewline(await git(root, ['rev-parse', '--show-prefix']))}${name}`;
  const before = await noteOf(git, root, commit);
  const conversations = conversationsOf(chain, input);
  const result = { ref: notesRef, repository, commit, before };
  if (conversations.length === 0) return { ...result, note: null, written: false };
  const note = noteText({
    commit,
    at: await readCommitTime(git, root, commit),
    files: [...othersIn(before, commit, inside), { path: inside, conversations }],
  });
  if (input.write !== true || note === before) return { ...result, note, written: false };
  writer.checkOutput(join(repository, '.git'));
  await said(git(root, ['notes', `--ref=${notesRef}`, 'add', '--force', '--file=-', commit], note), (why) =>
    unavailable(`git wrote no note: ${why}`, { reason: 'git' }),
  );
  return { ...result, note, written: true };
}

const withoutNewline = (printed: string): string => printed.replace(/\r?\n$/, '');

/** Git may convert the ends of lines when it writes files. */
const plain = (text: string): string => text.replaceAll('\r\n', '\n');

/** What git printed. A failure becomes the refusal, with the last line of what git said; a missing git is named. */
async function said(output: Promise<string>, refusal: (why: string) => StemmaError): Promise<string> {
  try {
    return await output;
  } catch (error) {
    const { code, stderr, message } = error as Error & { readonly code?: unknown; readonly stderr?: unknown };
    if (code === 'ENOENT') throw unavailable('git is not installed, or not on the search path.', { reason: 'git' });
    const lines = String(stderr ?? message)
      .trim()
      .split('\n');
    throw refusal(lines.findLast((line) => line.startsWith('fatal:')) ?? lines.at(-1) ?? '');
  }
}

/** The text of the commit's note; null without one. */
async function noteOf(git: Git, root: string, commit: string): Promise<string | null> {
  const blob = await git(root, ['notes', `--ref=${notesRef}`, 'list', commit]).catch(() => undefined);
  return blob === undefined ? null : git(root, ['cat-file', 'blob', withoutNewline(blob)]);
}

/** The records of other files in a note. @throws CONFLICT if the note is no record, because it would be lost */
function othersIn(note: string | null, commit: string, path: string): readonly Json[] {
  if (note === null) return [];
  const record = parseJson(note);
  if (!isObject(record) || record.version !== traceVersion || !Array.isArray(record.files))
    throw conflict(
      `The commit ${commit} has a note in ${notesRef} that is no record of Stemma. Remove it with: git notes --ref=${notesRef} remove ${commit}`,
      { field: 'commit' },
    );
  return record.files.filter((file) => !isObject(file) || file.path !== path);
}

/** When the commit was made, which is a time that does not change when the note is written again. */
async function readCommitTime(git: Git, root: string, commit: string): Promise<string> {
  const [, seconds = '0'] = /^committer .* (\d{1,12}) [+-]\d{4}$/m.exec(await git(root, ['cat-file', 'commit', commit])) ?? [];
  return toTimestamp(Number(seconds) * 1_000);
}

/** The text of a note. Equal facts give equal texts, because its id is made from the commit. */
function noteText({ commit, at, files }: { readonly commit: string; readonly at: string; readonly files: readonly unknown[] }): string {
  const id = commit.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
  const sorted = (files as readonly JsonObject[]).toSorted((a, b) => (String(a.path) < String(b.path) ? -1 : 1));
  return `${JSON.stringify({ version: traceVersion, id, timestamp: at, vcs: { type: 'git', revision: commit }, files: sorted }, null, 2)}\n`;
}
