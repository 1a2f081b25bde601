import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entries, tips } from '../../../src/core/chain/index.js';
import { listSessions } from '../../../src/core/sessions/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

const ids = ['aaaaaaaa-0000-4000-8000-000000000001', 'bbbbbbbb-0000-4000-8000-000000000002', 'cccccccc-0000-4000-8000-000000000003'] as const;
const [old, next, other] = ids;
const cases = join(import.meta.dirname, '../../fixtures/cases');

/** The session that each session continues. */
function linksIn(...paths: string[]) {
  const chain = emptyChain();
  for (const path of paths) importInto(chain, path);
  return Object.fromEntries(listSessions(chain, {}).sessions.map(({ sessionId, continues }) => [sessionId, continues]));
}

/** A file of a session. */
function write(folder: string, id: string, lines: readonly string[]): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${id}.jsonl`);
  writeFileSync(path, lines.join(''));
  return path;
}
const at = (id: string, minute: number) => ({ at: `2026-09-01T10:${minute}:00.000Z`, extra: { sessionId: id } });
const turn = (id: string, minute: number): string[] => [
  prompt(`${id}p`, `prompt ${id}`, at(id, minute)),
  answer(`${id}a`, 'ok', { parent: `${id}p`, ...at(id, minute) }),
];

test('[F52] a session with an accepted plan continues the session of the plan, in any order', () => {
  const folder = join(cases, 'plan-clear-context');
  const [first, second] = ['6aaf1005-ca31-498e-af41-123db3846481', 'cae5931f-35a6-4b05-a9bc-12285612df32'];
  const right = { [first]: undefined, [second]: { sessionId: first, how: 'recorded' } };
  expect(linksIn(folder)).toEqual(right);
  expect(linksIn(join(folder, `${second}.jsonl`), join(folder, `${first}.jsonl`))).toEqual(right);
  // Alone it names a session that is not here.
  expect(linksIn(join(folder, `${second}.jsonl`))).toEqual({ [second]: undefined });
});

test('[F52] a session that begins with /clear continues the last one in its folder', () => {
  const folder = join(cases, 'clear-command');
  const [before, after] = ['4788fb2f-2c1b-4362-a8cd-64c6f8b232f0', '69ff7f8f-ce14-4679-a98a-5c2ff4e98dc1'];
  expect(linksIn(folder)).toEqual({ [before]: undefined, [after]: { sessionId: before, how: 'cleared' } });
  const own = scratch();
  write(own, old, turn(old, 10));
  write(own, other, turn(other, 20));
  write(own, next, [
    prompt('cp', '<command-name>/clear</command-name>\n<command-args></command-args>', at(next, 30)),
    prompt('np', 'go on', { parent: 'cp', ...at(next, 31) }),
    answer('na', 'ok', { parent: 'np', ...at(next, 31) }),
  ]);
  expect(linksIn(own)[next]).toEqual({ sessionId: other, how: 'cleared' });
});

test('[F52] a file that goes on in another one is linked, also by a line that comes later', () => {
  const folder = scratch();
  const first = write(folder, old, turn(old, 10));
  const second = write(folder, next, turn(next, 20));
  const chain = emptyChain();
  importInto(chain, first, second);
  appendFileSync(first, `${JSON.stringify({ type: 'continued-in', sessionId: old, continuedInSessionId: next })}\n`);
  importInto(chain, first);
  expect(listSessions(chain, {}).sessions.find(({ sessionId }) => sessionId === next)?.continues).toEqual({ sessionId: old, how: 'recorded' });
});

test('a prompt that the running turn took up makes no branch, wherever the file was cut', { tags: 'long' }, () => {
  const id = 'a9d1cbf7-1942-427e-a8b4-0cf5ef38a960';
  const lines = readFileSync(join(cases, 'queue-absorbed', `${id}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  for (let cut = 1; cut < lines.length; cut++) {
    const chain = emptyChain();
    const folder = scratch();
    for (const count of [cut, lines.length])
      importInto(
        chain,
        write(
          folder,
          id,
          lines.slice(0, count).map((line) => `${line}\n`),
        ),
      );
    expect(listSessions(chain, {}).sessions).toMatchObject([{ branches: 1 }]);
    expect(tips(chain, {}).map((tip) => said(chain, tip.id, 'root').filter((line) => line.includes('also fix')))).toEqual([
      ['user text  also fix the typo'],
    ]);
  }
});

test.each([
  ['the queue and an attachment', 1],
  ['two attachments with one text', 2],
])('a prompt that the running turn took up is shown as often as it was typed: %s', (_, times) => {
  const id = 'a9d1cbf7-1942-427e-a8b4-0cf5ef38a960';
  const lines = readFileSync(join(cases, 'queue-absorbed', `${id}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
  const result = lines.findIndex((line) => line.includes('tool_result'));
  const { uuid, timestamp } = JSON.parse(lines[result] ?? '') as { uuid: string; timestamp: string };
  const attached = Array.from({ length: times }, (__, at) => ({
    ...{ type: 'attachment', uuid: `attached-${at}`, parentUuid: at === 0 ? uuid : `attached-${at - 1}`, sessionId: id, timestamp },
    attachment: { type: 'queued_command', prompt: 'also fix the typo', commandMode: 'prompt' },
  }));
  const answered = lines.slice(result + 1).map((line) => line.replaceAll(`"parentUuid": "${uuid}"`, `"parentUuid": "attached-${times - 1}"`));
  const all = [...lines.slice(0, result + 1), ...attached.map((line) => JSON.stringify(line)), ...answered];
  for (const copies of [1, 2]) {
    const chain = emptyChain();
    const text = all.map((line) => `${line}\n`);
    importInto(chain, write(scratch(), id, Array.from({ length: copies }, () => text).flat()));
    const [tip] = tips(chain, {});
    const shown = tip ? said(chain, tip.id, 'root') : [];
    expect(
      entries(chain, { id: tip?.id ?? ('' as never), stop: 'root' }).entries.filter(({ text = '' }) => text.includes('also fix the typo')),
    ).toHaveLength(times);
    expect(shown.at(-1)).toBe('assistant text  ok');
  }
});
