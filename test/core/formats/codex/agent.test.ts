import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contextEntries, findCommit, fork } from '../../../../src/core/chain/index.js';
import { exportContext, resumeIn } from '../../../../src/core/export/index.js';
import { listSources } from '../../../../src/core/import/index.js';
import { filesOf, hasAgent, liveRun, sentOnResume, transcripts, unlessHere } from '../../../support/agents.js';
import { bytesOfSource, importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { expectRetold } from '../retold.js';

interface Item {
  readonly type?: string;
  readonly id?: string;
  readonly role?: string;
  readonly content?: unknown;
}

const sentFor = (path: string): readonly Item[] => sentOnResume('codex', path) as readonly Item[];

/** Without what each process creates anew: the ids of its own items, and the folder in which the oracle works. */
function lasting(items: readonly Item[], kept: ReadonlySet<string>): readonly unknown[] {
  const text = JSON.stringify(items.map(({ id, ...item }) => (id !== undefined && kept.has(id) ? { ...item, id } : item)));
  return JSON.parse(text.replace(/resume-oracle-\w+/g, 'work')) as unknown[];
}

function written(text: string | Uint8Array, name = `rollout-${Math.random()}.jsonl`): string {
  const path = join(scratch(), name);
  writeFileSync(path, text);
  return path;
}

const idsIn = (file: string): ReadonlySet<string> => new Set([...file.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id as string));

describe.skipIf(!hasAgent('codex'))(`the real Codex${unlessHere('codex')}`, () => {
  const { transcripts: files, wire: requests } = hasAgent('codex') ? liveRun('codex') : { transcripts: [], wire: [] };
  const inCorpus = hasAgent('codex') ? filesOf(join(transcripts, 'codex'), /\.jsonl$/) : [];

  test('[F1, F21] every session comes back from the store, and an original from its chain', { tags: 'long' }, () => {
    const chain = emptyChain();
    const result = importInto(chain, ...files, ...inCorpus);
    expect([...result.skipped, ...result.notes]).toEqual([]);
    const sources = listSources(chain);
    expect(sources).toHaveLength(files.length + inCorpus.length);
    for (const source of sources) {
      const file = readFileSync(source.path);
      expect(bytesOfSource(chain, source.sourceId).equals(file)).toBe(true);
      if (file.includes('"history_base"')) continue;
      const text = exportContext(chain, { id: source.tips.at(-1) as never, format: 'codex-v1' }).text ?? '';
      expect(Buffer.from(text).equals(file), basename(source.path)).toBe(true);
    }
  });

  test('[F14] a session resumed under a new id sends what the original sends', { tags: 'long' }, () => {
    const chain = emptyChain();
    const originals = [
      ...files.filter((path) => !readFileSync(path).includes('"history_base"')),
      ...inCorpus.filter((path) => path.includes('jt_codex_2026')),
    ];
    importInto(chain, ...originals);
    for (const source of listSources(chain)) {
      const root = scratch();
      const made = resumeIn(chain, [{ agent: 'codex', root }], { id: source.tips.at(-1) as never, cwd: '/home/sam' });
      expect(made.command).toBe(`cd /home/sam && codex resume ${made.sessionId}`);
      expect(made.path).toMatch(new RegExp(`sessions/\\d{4}/\\d\\d/\\d\\d/rollout-[\\dT-]+-${made.sessionId}\\.jsonl$`));
      const kept = idsIn(readFileSync(source.path, 'utf8'));
      expect(lasting(sentFor(made.path), kept)).toEqual(lasting(sentFor(source.path), kept));
    }
  });

  test('[F14] a fork by reference is resumed with its whole history, in any import order', { tags: 'long' }, () => {
    const child = files.find((path) => readFileSync(path).includes('"history_base"')) ?? '';
    const chain = emptyChain();
    const result = importInto(chain, child);
    expect(result.notes).toEqual([]);
    const text = exportContext(chain, { id: result.tips.at(-1) as never, format: 'codex-v1' }).text ?? '';
    const inputs = requests.map(({ input }) => input as unknown as readonly Item[]);
    const wire = inputs.find((input) => JSON.stringify(input.at(-1)).includes('In a fork')) ?? [];
    const kept = idsIn(text);
    const sent = lasting(sentFor(written(text)), kept);
    expect(sent.slice(0, wire.length)).toEqual(lasting(wire, kept));
  });

  test('[F14] a fork is resumed with its own history and nothing after the cut', { tags: 'long' }, () => {
    const chain = emptyChain();
    importInto(chain, ...files);
    const main = listSources(chain).find(({ path }) => readFileSync(path, 'utf8').includes('"compacted"'));
    const all = contextEntries(chain, { id: main?.tips.at(-1) as never, stop: 'root' });
    const at = all.find(({ entry }) => entry.text === 'It doubles.')?.key as never;
    const cut = fork(chain, {
      id: main?.tips.at(-1) as never,
      at,
      edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'And a word of ours' } }],
    });
    expect(findCommit(chain, cut.id).format).toBe('codex-v1');
    const sent = JSON.stringify(sentFor(written(exportContext(chain, { id: cut.id, format: 'codex-v1' }).text ?? '')));
    expect(sent).toContain('It doubles.');
    expect(sent).toContain('And a word of ours');
    expect(sent).not.toContain('SUMMARY OF WORK');
  });

  test('Codex resumes a Claude Code session with its texts, calls and results', { tags: 'long' }, () => {
    const chain = emptyChain();
    const file = join(transcripts, 'claude-code/entire-ada8171575ce-image-in-tool-result.jsonl');
    const { tips } = importInto(chain, file);
    const id = tips.at(-1) as never;
    const sent = JSON.stringify(sentFor(written(exportContext(chain, { id, format: 'codex-v1' }).text ?? '')));
    const said = contextEntries(chain, { id }).map(({ entry }) => entry);
    expect(said.length).toBeGreaterThan(20);
    expectRetold(sent, said, { without: ({ marks }) => marks?.includes('meta') ?? false });
  });

  test.skipIf(!hasAgent('claude'))('Claude Code resumes a Codex session with its texts, calls and results', { tags: 'long' }, () => {
    const chain = emptyChain();
    for (const file of [...files, ...inCorpus.filter((path) => path.includes('jt_codex'))]) {
      const { tips } = importInto(chain, file);
      const id = tips.at(-1) as never;
      const path = written(exportContext(chain, { id, format: 'claude-code-v1' }).text ?? '');
      const said = contextEntries(chain, { id }).map(({ entry }) => entry);
      expectRetold(JSON.stringify(sentOnResume('claude', path)), said, { about: basename(file) });
    }
  });
});
