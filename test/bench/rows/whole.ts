import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContextId } from '../../../src/core/base/index.js';
import { entries, fork, outlineRows, type WriteChain } from '../../../src/core/chain/index.js';
import { openProject, type Project } from '../../../src/core/project/index.js';
import { importAll, openEngine } from '../engine.js';
import { sessionFile } from '../material.js';
import { medians, type Part, plain, type Row, timed } from '../measure.js';

/** Times of the agents' own programs, measured earlier on a similar machine, not in this run. */
const recorded = { claudeResumeMs: 480, sdkForkMs: 228 };

/** The queries of the window for a context: the outline and the first page of entries. */
const firstScreen = (chain: WriteChain, id: ContextId): void => {
  outlineRows(chain, { id });
  entries(chain, { id, offset: 0, limit: 60 });
};

/** The real session of 18 MB if available, else a generated one of the same size. */
function bigSession(folder: string): { readonly file: string; readonly name: string } {
  const shared = join(
    dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url))))),
    'shared/transcripts/claude-code/entire-0cf3db51-assembled-18MB-6compact.jsonl',
  );
  if (existsSync(shared)) return { file: shared, name: 'a real session of 18 MB' };
  const file = join(folder, '00000018-0000-4000-8000-000000000000.jsonl');
  writeFileSync(file, sessionFile(18 * 1024 * 1024, 18));
  return { file, name: 'a made session of 18 MB' };
}

function whole(folder: string): Row[] {
  const at = mkdtempSync(join(folder, 'whole-'));
  const { file, name } = bigSession(at);
  const stored = openEngine(join(at, 'stored'));
  const tip = importAll(stored.chain, [file]).tips.at(-1);
  if (!tip) throw new Error('the session has no tip');
  stored.close();
  const close = (project: Project): void => project.close();
  const open = (): Project => openProject(stored.dir, Date.now);
  const ms = medians({
    parse: plain(() => {
      for (const line of readFileSync(file, 'utf8').split('\n')) {
        try {
          JSON.parse(line);
        } catch {
          // A torn or empty line costs its reader the attempt.
        }
      }
    }),
    // Open the project again each time, so that nothing is cached.
    firstScreen: timed({ prepare: open, run: ({ chain }) => firstScreen(chain, tip), clean: close }),
    fromFile: timed({
      prepare: (round: number) => openEngine(join(at, `fresh-${round}`)),
      run: ({ chain }) => firstScreen(chain, importAll(chain, [file]).tips.at(-1) as ContextId),
      clean: (project: Project) => {
        project.close();
        rmSync(project.dir, { recursive: true, force: true });
      },
    }),
  });
  const forkMs = forks(open());
  rmSync(at, { recursive: true, force: true });
  const ofRecord = (ms: number): string => `over a recorded figure (${ms} ms), not measured in this run`;
  return [
    {
      id: 'W1',
      what: `first screen of ${name}, stored, over JSON.parse of it`,
      ratio: ms.firstScreen / ms.parse,
      must: 0.3,
      stretch: 0.1,
      better: 'less',
      figures: { parseMs: ms.parse, firstScreenMs: ms.firstScreen },
    },
    {
      id: 'W2',
      what: 'from file to first screen over Claude Code’s own resume',
      ratio: ms.fromFile / recorded.claudeResumeMs,
      must: 1.5,
      stretch: 1,
      better: 'less',
      note: ofRecord(recorded.claudeResumeMs),
      figures: { fromFileMs: ms.fromFile },
    },
    {
      id: 'W3',
      what: 'a fork anywhere in it over the agent SDK’s fork',
      ratio: forkMs.worst / recorded.sdkForkMs,
      must: 1 / 10,
      stretch: 1 / 30,
      better: 'less',
      note: `the slowest of 9 places, ${ofRecord(recorded.sdkForkMs)}`,
      figures: forkMs,
    },
  ];

  /** Forks after entries across the whole history. Each position has the median of rounds with cold caches. */
  function forks(first: Project): { median: number; worst: number } {
    const keys = outlineRows(first.chain, { id: tip as ContextId, stop: 'root' }).rows.map((row) => row.key);
    first.close();
    const places = [0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.99];
    let number = 0;
    const times = medians(
      Object.fromEntries(
        places.map((share) => [
          `at ${share}`,
          timed({
            prepare: open,
            run: ({ chain }) => fork(chain, { id: tip as ContextId, at: keys[Math.floor(keys.length * share)], template: `fork ${number++}` }),
            clean: close,
          }),
        ]),
      ),
    );
    const sorted = Object.values(times).toSorted((a, b) => a - b);
    return { median: sorted[sorted.length >> 1] ?? 0, worst: sorted.at(-1) ?? 0 };
  }
}

export const wholeParts: readonly Part[] = [{ rows: ['W1', 'W2', 'W3'], run: whole }];
