import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { door } from '../../support/door.js';
import { scratch } from '../../support/project.js';
import { laterRefusal } from '../../support/refusal.js';

interface Call {
  readonly tool: string;
  readonly input: object;
  readonly result?: string;
  readonly fails?: boolean;
}

/** Lines of a Claude Code session with one prompt for each call. */
function sessionOf(id: string, hour: number, calls: readonly Call[]): string {
  let at = Date.parse(`2026-03-01T${String(hour).padStart(2, '0')}:00:00.000Z`);
  let parent: string | null = null;
  const lines: string[] = [];
  const add = (type: string, message: object): void => {
    const uuid = `${id}-${lines.length}`;
    at += 1_000;
    lines.push(
      JSON.stringify({
        type,
        uuid,
        parentUuid: parent,
        sessionId: id,
        cwd: '/repo',
        timestamp: new Date(at).toISOString(),
        version: '2.0.0',
        message,
      }),
    );
    parent = uuid;
  };
  for (const [place, { tool, input, result = 'done', fails }] of calls.entries()) {
    const call = `${id}-call-${place}`;
    add('user', { role: 'user', content: `Step ${place}` });
    add('assistant', {
      id: `msg-${id}-${place}`,
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [{ type: 'tool_use', id: call, name: tool, input }],
    });
    add('user', { role: 'user', content: [{ type: 'tool_result', tool_use_id: call, content: result, ...(fails && { is_error: true }) }] });
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** A repository with one file, and a project with sessions that worked on it. */
async function world(content: string, sessions: (file: string) => readonly (readonly Call[])[]) {
  const repository = scratch();
  mkdirSync(join(repository, '.git'));
  mkdirSync(join(repository, 'src'));
  const file = join(repository, 'src', 'a.ts');
  writeFileSync(file, content);
  const { client } = door();
  const dir = scratch();
  const paths = sessions(file).map((calls, at) => {
    const path = join(dir, `s${at}.jsonl`);
    writeFileSync(path, sessionOf(`s${at}`, 10 + at, calls));
    return path;
  });
  if (paths.length > 0) for await (const _ of await client.import.run({ paths }));
  const spans = await client.blame.file({ path: file });
  return { client, file, repository, spans, seen: spans.map(({ start, end, sessionId, basis }) => [start, end, sessionId, basis]) };
}

const write = (file: string, content: string): Call => ({ tool: 'Write', input: { file_path: file, content } });
const edit = (file: string, from: string, to: string, fails = false): Call => ({
  tool: 'Edit',
  input: { file_path: file, old_string: from, new_string: to },
  fails,
});

describe('blame', () => {
  test('[G1] a written file with later edits names the turn of each line', async () => {
    const { seen, spans } = await world('one\nTWO\nthree\nfour\n', (file) => [
      [write(file, 'one\ntwo\nthree\n'), edit(file, 'two', 'TWO')],
      [edit(file, 'three', 'three\nfour')],
    ]);
    expect(seen).toEqual([
      [1, 1, 's0', 'replayed'],
      [2, 2, 's0', 'replayed'],
      [3, 3, 's0', 'replayed'],
      [4, 4, 's1', 'replayed'],
    ]);
    expect(new Set(spans.map(({ turnId }) => turnId)).size).toBe(3);
    expect(spans[0]?.turnId).toBe(spans[2]?.turnId);
    expect(spans[0]).toMatchObject({ agent: 'claude-code' });
  });

  test('[G1] lines that a person changed afterwards, and those of an unrecorded file, are unknown', async () => {
    const { seen } = await world('one\nby hand\nthree\n', (file) => [[write(file, 'one\ntwo\nthree\n')]]);
    expect(seen).toEqual([
      [1, 1, 's0', 'replayed'],
      [2, 2, null, 'unknown'],
      [3, 3, 's0', 'replayed'],
    ]);
    expect((await world('x\ny\n', () => [])).seen).toEqual([[1, 2, null, 'unknown']]);
  });

  test('[G1] a file that was read before its edits keeps unknown lines, and the edits are known', async () => {
    const { seen } = await world('old\nnew\n', (file) => [
      [{ tool: 'Read', input: { file_path: file }, result: '     1\told\n     2\tbefore' }, edit(file, 'before', 'new')],
    ]);
    expect(seen).toEqual([
      [1, 1, null, 'unknown'],
      [2, 2, 's0', 'replayed'],
    ]);
  });

  test('[G1] failed edits, and edits that do not fit, prove nothing', async () => {
    expect((await world('one\n', (file) => [[write(file, 'one\n'), edit(file, 'one', 'two', true)]])).seen).toEqual([[1, 1, 's0', 'replayed']]);
    expect((await world('one\n', (file) => [[write(file, 'zero\n'), edit(file, 'missing', 'one')]])).seen).toEqual([[1, 1, null, 'unknown']]);
    expect((await world('one\n', (file) => [[edit(file, 'zero', 'one')]])).seen).toEqual([[1, 1, null, 'unknown']]);
  });

  test('[G1] another clone counts by its path there, and another file of that name does not', async () => {
    expect((await world('one\n', () => [[write('/elsewhere/clone/src/a.ts', 'one\n')]])).seen).toEqual([[1, 1, 's0', 'replayed']]);
    expect((await world('one\n', () => [[write('/elsewhere/lib/a.ts', 'one\n')]])).seen).toEqual([[1, 1, null, 'unknown']]);
  });

  test('[G1] a missing file, a path outside and bytes are refused', async () => {
    const { client, repository } = await world('one\n', () => []);
    writeFileSync(join(repository, 'x.bin'), Buffer.from([1, 0, 2]));
    for (const input of [{ path: join(repository, 'nope') }, { path: '../x', repository }, { path: join(repository, 'x.bin') }])
      expect(await laterRefusal(client.blame.file(input))).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'path' } });
  });

  test('[G2] an Agent Trace record has the known ranges and leaves the others out', async () => {
    const { client, file } = await world('one\nby hand\n', (path) => [[write(path, 'one\ntwo\n')]]);
    const { record } = await client.blame.trace({ path: file });
    expect(record).toMatchObject({
      version: '0.1.0',
      files: [{ path: 'src/a.ts', conversations: [{ url: 'stemma:session/s0', ranges: [{ start_line: 1, end_line: 1 }] }] }],
    });
  });

  test('[G3] a commit of git leads to its session by its trailer, or by what git commit printed', async () => {
    const { client } = await world('one\n', () => [
      [{ tool: 'Bash', input: { command: 'git commit -am "Fix it"' }, result: '[main 1a2b3c4] Fix it\n 1 file changed' }],
    ]);
    expect(await client.blame.commit({ commit: '1a2b3c4d5e6f708090a0b0c0d0e0f00112233445' })).toMatchObject([{ sessionId: 's0', basis: 'tool' }]);
    expect(await client.blame.commit({ commit: 'ffffffffff', message: 'Fix\n\nStemma-Session: s0\n' })).toEqual([
      { sessionId: 's0', turnId: null, basis: 'trailer', at: null },
    ]);
    expect(await client.blame.commit({ commit: 'ffffffffff', message: 'Stemma-Session: nobody' })).toEqual([]);
  });
});
