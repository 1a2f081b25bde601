import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importedFiles, searchOutside } from '../../../src/core/import/index.js';
import { atOnce } from '../../../src/core/project/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';
import { transcript } from '../../support/transcript.js';

function machine(): { root: string; write: (id: string, answer: string) => string } {
  const root = scratch();
  const folder = join(root, 'projects', '-work');
  mkdirSync(folder, { recursive: true });
  return {
    root,
    write: (id, answer) => {
      const path = join(folder, `${id}.jsonl`);
      writeFileSync(path, transcript(id, [{ prompt: 'What is it?', answers: [answer] }]));
      return path;
    },
  };
}

test('[W8] a text is found in histories that are not imported, and only in those', () => {
  const { root, write } = machine();
  const place = { agent: 'claude-code', root } as const;
  const imported = write('a', 'The Heron waits.');
  const other = write('b', 'A "heron" waits,\nthen it flies.');
  write('c', 'Nothing of that sort.');
  const chain = emptyChain();
  importInto(chain, imported);
  const find = (text: string) => atOnce(searchOutside([place], importedFiles(chain), text));
  expect(find('HERON').hits).toEqual([{ path: other, snippet: expect.stringContaining('"heron" waits') }]);
  expect(find('"heron" waits').hits.map(({ path }) => path)).toEqual([other]);
  expect(find('waits,\nthen').hits.map(({ path }) => path)).toEqual([other]);
  expect(find('no such words')).toEqual({ hits: [], searched: 2, unread: 0 });
});

test('[W8] a match across two parts of a large file is found', () => {
  const { root, write } = machine();
  const path = write('large', `${'x'.repeat(2 * 1024 * 1024 - 400)}${'y'.repeat(380)} needle ${'z'.repeat(100)}`);
  expect(atOnce(searchOutside([{ agent: 'claude-code', root }], () => false, 'needle')).hits.map((hit) => hit.path)).toEqual([path]);
});

test('[F41] a document too large to be read as one value is refused with its size and limit', () => {
  const path = join(scratch(), 's.messages.json');
  writeFileSync(path, '{"version":1,"updated_at":"2026-11-25T10:00:00.000Z","agent":"lead","messages":[');
  truncateSync(path, 128 * 1024 ** 2 + 1);
  const { skipped, commits } = importInto(emptyChain(), path);
  expect(commits).toBe(0);
  expect(skipped).toMatchObject([{ path, reason: expect.stringMatching(/134217729 bytes.*134217728/) }]);
});
