import { readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { entries, graph, type WriteChain } from '../../../src/core/chain/index.js';
import { reproduceTurn } from '../../../src/core/turns/index.js';
import { importInto } from '../../support/imports.js';
import { some } from '../../support/long.js';
import { emptyChain } from '../../support/project.js';

const fixtures = resolve(import.meta.dirname, '../../fixtures');
const sample = resolve(import.meta.dirname, '../../../resources/sample');

const below = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.jsonl?$/.test(name))
    .map((name) => join(folder, name));

/** Each turn of a small file, and as many turns of a large one, evenly spread. ALL_TURNS=1 looks at all turns of all files. */
const maxTurns = process.env.ALL_TURNS ? Number.POSITIVE_INFINITY : 40;
const largest = process.env.ALL_TURNS ? Number.POSITIVE_INFINITY : 1_500_000;

/** Folders with a history in each file. */
const runtimes = ['claude-code', 'codex', 'codex-2026', 'codex-all-types', 'gemini', 'gemini-cli', 'pi', 'pi-compacted', 'subagents'];

const files = [...runtimes.flatMap((name) => below(join(fixtures, name))), ...below(sample)];

/** A folder for each further tool, whose files are imported together: some of its formats take several files or a database. */
const tools = readdirSync(fixtures).filter((name) => ![...runtimes, 'cases', 'opencode'].includes(name));

const places = [
  ...files.filter((path) => statSync(path).size <= largest).map((path) => [basename(path), path, 0] as const),
  ...tools.map((name) => [`all files of ${name}`, join(fixtures, name), 1] as const),
];

function turnsOf(chain: WriteChain) {
  const turns = graph(chain, { offset: 0, limit: 5_000 }).rows.filter(({ commit }) => commit.type === 'delta');
  const every = Math.max(1, Math.ceil(turns.length / maxTurns));
  return turns.filter((_, place) => place % every === 0).map(({ commit }) => commit.id);
}

test.each(some(places, 15))(
  '[R6] %s: every turn with output has a call, and none differs where nothing was recorded',
  { timeout: 600_000 },
  (_, path, least) => {
    const chain = emptyChain(Date.now);
    expect(importInto(chain, path).commits).toBeGreaterThanOrEqual(least);
    const wrong: unknown[] = [];
    const proofs: Record<string, number> = {};
    for (const id of turnsOf(chain)) {
      const { proof, identical, calls } = reproduceTurn(chain, id);
      proofs[`${proof} ${identical}`] = (proofs[`${proof} ${identical}`] ?? 0) + 1;
      const isReplied = entries(chain, { id, stop: id }).entries.some(({ role, kind }) => role === 'assistant' && kind !== 'event');
      if ((isReplied && calls === 0) || (proof === 'rebuilt' && identical === false)) wrong.push({ id, proof, identical, calls });
    }
    if (process.env.ALL_TURNS) console.log(basename(path), JSON.stringify(proofs));
    expect(wrong).toEqual([]);
  },
);
