import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { getSource, listSources } from '../../../src/core/import/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

/** Histories of a file each. */
const fixtures = join(import.meta.dirname, '../../fixtures');
const folders = ['claude-code', 'codex', 'codex-2026', 'codex-all-types', 'gemini', 'gemini-cli', 'pi', 'pi-compacted'];

const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((file) => (file.isFile() ? [join(file.parentPath, file.name)] : []));

describe('imported files out of the store alone', () => {
  test('[C16b] every real history is restored byte for byte after its file is deleted', { tags: 'long' }, () => {
    const folder = scratch();
    const originals = folders.flatMap((name) => files(join(fixtures, name))).filter((path) => !path.endsWith('.md'));
    expect(originals.length).toBeGreaterThan(20);
    const copies = originals.map((path) => ({ path, copy: join(folder, path.slice(fixtures.length)) }));
    const chain = emptyChain();
    for (const { path, copy } of copies) {
      mkdirSync(dirname(copy), { recursive: true });
      const bytes = readFileSync(path);
      // Cut wherever it falls: the first state may end in the middle of a line.
      if (copy.endsWith('.jsonl')) writeFileSync(copy, bytes.subarray(0, bytes.length >> 1));
      else copyFileSync(path, copy);
    }
    importInto(chain, folder);
    for (const { path, copy } of copies) copyFileSync(path, copy);
    importInto(chain, folder);
    rmSync(folder, { recursive: true });
    const sources = new Map(listSources(chain).map((source) => [source.path, source.sourceId]));
    expect([...sources.keys()].sort()).toEqual(copies.map(({ copy }) => copy).sort());
    const again = scratch();
    for (const [at, { path, copy }] of copies.entries()) {
      const to = join(again, String(at));
      expect(getSource(chain, sources.get(copy) ?? '', to)).toMatchObject({ path: to });
      expect(readFileSync(to).equals(readFileSync(path)), path).toBe(true);
    }
  });
});
