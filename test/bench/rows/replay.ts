import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContextId } from '../../../src/core/base/index.js';
import type { WriteChain } from '../../../src/core/chain/index.js';
import { type Alignable, align } from '../../../src/core/diff/index.js';
import { compareContexts, replaySteps, stateAt, stepEntries } from '../../../src/core/turns/index.js';
import { commit, discard, scratchEngine } from '../engine.js';
import { chance, prose, turns } from '../material.js';
import { medians, type Part, plain, type Row, timed } from '../measure.js';

const entryCount = 20_000;

/** A context of 5 MB, as large as a long session. */
function context(seed: number): Alignable[] {
  const next = chance(seed);
  return Array.from({ length: entryCount }, (_, at) => ({
    key: `entry-${seed}-${at}.0`,
    content: prose(next, 250).replaceAll('\n', ' '),
    likeness: at % 2 ? 'assistant text' : 'user text',
  }));
}

/** The same with a share of its entries changed, removed or preceded by a new one. */
function changed(from: readonly Alignable[], share: number): Alignable[] {
  const next = chance(7);
  return from.flatMap((entry, at): Alignable[] => {
    if (next() >= share) return [entry];
    const other = { ...entry, key: `other-${at}.0`, content: prose(next, 250).replaceAll('\n', ' ') };
    const how = next();
    return how < 0.6 ? [other] : how < 0.8 ? [] : [entry, other];
  });
}

/** Contexts without common keys, as after two imports, so that only content can be compared. */
const renamed = (entries: readonly Alignable[]): Alignable[] => entries.map((entry) => ({ ...entry, key: `again-${entry.key}` }));

/** Compares two contexts of 20,000 entries, next to git on the same entries as lines. */
function diffs(folder: string): Row[] {
  const before = context(1);
  const file = (name: string, entries: readonly Alignable[]): string => {
    const path = join(folder, name);
    writeFileSync(path, `${entries.map((entry) => entry.content).join('\n')}\n`);
    return path;
  };
  const a = file('a.txt', before);
  const isGit = spawnSync('git', ['--version']).status === 0;
  return [
    { share: 0.01, must: 1.2, stretch: 0.8 },
    { share: 0.3, must: 6, stretch: 2 },
  ].map(({ share, must, stretch }): Row => {
    const after = changed(before, share);
    const again = renamed(after);
    const b = file(`b-${share}.txt`, after);
    const ms = medians({
      keys: plain(() => align(before, after)),
      contents: plain(() => align(before, again)),
      git: plain(() => spawnSync('git', ['diff', '--no-index', '--no-color', a, b], { maxBuffer: 1 << 28 })),
    });
    return {
      id: `T24 ${share * 100} %`,
      what: `two contexts of 20,000 entries, ${share * 100} % changed, over git diff --no-index of the same as lines`,
      ratio: isGit ? Math.max(ms.keys, ms.contents) / ms.git : undefined,
      must,
      stretch,
      better: 'less',
      note: isGit ? 'the slower of by ids and by content alone' : 'not measured here: git is not installed',
      figures: { byIdsMs: ms.keys, byContentMs: ms.contents, gitMs: ms.git },
    };
  });
}

/** A chain with a number of entries, five per turn. */
function chainOf(chain: WriteChain, entries: number): ContextId {
  let parent: ContextId | null = null;
  chain.artifacts.transaction(() => {
    for (const text of turns(entries / 5)) parent = commit(chain, parent, text);
  });
  if (parent === null) throw new Error('a chain has at least one turn');
  return parent;
}

const steps = 50;

/** Stepping between any two entries costs no more in a long chain than in a short one. */
function stepping(folder: string): Row[] {
  const project = scratchEngine(folder);
  const { chain } = project;
  const tips = { short: chainOf(chain, 2_000), long: chainOf(chain, entryCount) };
  const opened = performance.now();
  const { length } = replaySteps(chain, tips.long).steps;
  const openMs = performance.now() - opened;
  const jumps = (id: ContextId, count: number) =>
    timed({
      prepare: (round) => {
        const next = chance(round + 11);
        return Array.from({ length: steps }, () => 1 + Math.floor(next() * (count - 30)));
      },
      run: (places) => {
        for (const step of places) {
          stateAt(chain, { id, step });
          stepEntries(chain, { id, offset: Math.max(0, step - 20), limit: 40 });
        }
      },
    });
  const ms = medians({ short: jumps(tips.short, replaySteps(chain, tips.short).steps.length), long: jumps(tips.long, length) }, 7);
  const contexts = medians({ same: plain(() => compareContexts(chain, { a: tips.long, b: tips.long })) });
  discard(project);
  return [
    {
      id: 'P1',
      what: `stepping anywhere in a chain of ${length.toLocaleString('en-US')} entries over one of 2,000`,
      ratio: ms.long / ms.short,
      must: 2,
      stretch: 1.2,
      better: 'less',
      note: 'the state and the 40 entries around the step, a step',
      figures: { longMs: ms.long / steps, shortMs: ms.short / steps, openMs, wholeContextsComparedMs: contexts.same },
    },
  ];
}

export const replayParts: readonly Part[] = [
  { rows: ['T24'], run: diffs },
  { rows: ['P1'], run: stepping },
];
