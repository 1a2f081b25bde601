import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { entries, graph, tips, type WriteChain } from '../../../src/core/chain/index.js';
import type { Commit } from '../../../src/core/contract/index.js';
import { namedFile } from '../../../src/core/files/index.js';
import { importGrowth, type TranscriptGrowth } from '../../../src/core/follow/index.js';
import { importPaths } from '../../../src/core/import/index.js';
import { atOnce } from '../../../src/core/project/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { codexLine, codexTurn } from '../../support/codex-lines.js';
import { some } from '../../support/long.js';
import { emptyChain, scratch } from '../../support/project.js';

const fixtures = resolve(import.meta.dirname, '../../fixtures');

const commitsOf = (chain: WriteChain): Commit[] =>
  graph(chain, { offset: 0, limit: 5_000 })
    .rows.map(({ commit }) => commit)
    .reverse();
const contextsOf = (chain: WriteChain): string[] =>
  tips(chain, {})
    .map(({ id }) => JSON.stringify(entries(chain, { id, stop: 'root' }).entries.map(({ source: _, ...entry }) => entry)))
    .sort();

/** A file as its agent writes it, looked at after each line, as a watcher does; and once more where it rests at the end. */
function grow(text: string, name: string, what: 'settled' | 'resting' = 'settled'): { chain: WriteChain; path: string; looks: TranscriptGrowth[] } {
  const chain = emptyChain();
  const path = join(scratch(), name);
  writeFileSync(path, '');
  const looks: TranscriptGrowth[] = [];
  let seam: TranscriptGrowth['seam'];
  for (const line of text.split(/(?<=\n)/)) {
    appendFileSync(path, line);
    const taken = importGrowth(chain, namedFile(path), { what, granularity: 'turn_boundary', seam });
    seam = taken.seam;
    looks.push(taken);
  }
  return { chain, path, looks };
}

/** Turns that were interrupted and got one more word when the agent came back: an import, which sees both, puts it with the turn. */
const laterWords = /torn-lines|branch-2compact|branch-compact-queue|branches-compact/;

/** Whole lines of a file, of the large ones not all of them. */
function beginningOf(path: string): string {
  const text = readFileSync(path, 'utf8');
  return text.length <= largest ? text : text.slice(0, text.lastIndexOf('\n', largest) + 1);
}
const largest = 300_000;

function whole(path: string): WriteChain {
  const chain = emptyChain();
  atOnce(importPaths(chain, { paths: [path] }));
  return chain;
}

/** Samples of every kind of line are no conversations. */
const noSequences = /all-record-types/;

const files = [
  ...['tour.jsonl', 'tour-fork.jsonl'].flatMap((name) => [join(fixtures, 'pi', name), join(fixtures, 'gemini', name)]),
  ...['codex-2026', 'pi-compacted', 'claude-code'].flatMap((folder) =>
    readdirSync(join(fixtures, folder))
      .filter((name) => name.endsWith('.jsonl') && !noSequences.test(name))
      .map((name) => join(fixtures, folder, name)),
  ),
];

describe('a transcript that is looked at after each of its lines', () => {
  test.each(some(files, 4).map((path) => [basename(path), path]))(
    '[L1, L2] %s: the same contexts as an import of the whole, and no turn is cut in two',
    (name, path) => {
      const { chain, path: grown } = grow(beginningOf(path), name);
      importGrowth(chain, namedFile(grown), { what: 'all', granularity: 'turn_boundary' });
      const imported = whole(grown);
      expect(contextsOf(chain)).toEqual(contextsOf(imported));
      const withEntries = (all: Commit[]): unknown[] =>
        all
          .filter(({ messageCount }) => messageCount > 0)
          .map(({ summary, messageCount, tokenCount, sessionId, principal, template }) => [
            summary,
            messageCount,
            tokenCount,
            sessionId,
            principal,
            template,
          ]);
      if (!laterWords.test(name)) expect(withEntries(commitsOf(chain))).toEqual(withEntries(commitsOf(imported)));
    },
  );

  test('[L6] a file that is replaced by one of another agent is read as what it is now', () => {
    const { chain, path } = grow(codexLine('session_meta', { id: 's', cwd: '/work' }) + codexTurn(1), 'history.jsonl');
    writeFileSync(path, prompt('u1', 'a question', { parent: null }) + answer('a1', 'an answer', { parent: 'u1' }));
    expect(importGrowth(chain, namedFile(path), { what: 'resting', granularity: 'turn_boundary' })).toMatchObject({
      format: 'claude-code-v1',
      commits: 1,
    });
  });

  test('[L1] Codex: a turn is over where it says so, whatever is said in it', () => {
    const turn = codexTurn(1);
    const { looks, chain } = grow(codexLine('session_meta', { id: 's', cwd: '/work' }) + turn + codexTurn(2), 'rollout-1.jsonl', 'resting');
    const lines = turn.trim().split('\n').length;
    expect(looks.map(({ commits }) => commits)).toEqual([
      0,
      ...Array.from({ length: lines }, (_, at) => (at === lines - 1 ? 1 : 0)),
      ...Array.from({ length: lines }, (_, at) => (at === lines - 1 ? 1 : 0)),
    ]);
    expect(looks.slice(3, lines).every(({ open }) => open)).toBe(true);
    expect(commitsOf(chain).map(({ summary, messageCount }) => [summary, messageCount])).toEqual([
      ['question 1', 4],
      ['question 2', 4],
    ]);
  });

  test('[L1, L2] the output of Claude Code: its records follow each other as in an import', () => {
    const text = readFileSync(join(fixtures, 'cases/claude-stream-json/out.jsonl'), 'utf8');
    const { chain, path } = grow(text, 'out.jsonl', 'resting');
    expect(contextsOf(chain)).toEqual(contextsOf(whole(path)));
  });

  test('[L1] pi: a turn is over where the answer stopped by itself', () => {
    const { looks } = grow(readFileSync(join(fixtures, 'pi', 'tour.jsonl'), 'utf8'), 'tour.jsonl');
    expect(looks.flatMap(({ commits }, at) => (commits > 0 ? [at + 1] : []))).toEqual([11, 13, 14, 16, 18, 21]);
  });
});
