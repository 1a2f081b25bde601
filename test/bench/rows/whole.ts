import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContextId } from '../../../src/core/base/index.js';
import { entries, outlineRows, type WriteChain } from '../../../src/core/chain/index.js';
import { openProject, type Project } from '../../../src/core/project/index.js';
import { importAll, openEngine } from '../engine.js';
import { sessionFile } from '../material.js';
import { medians, type Part, plain, type Row, timed } from '../measure.js';

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
  rmSync(at, { recursive: true, force: true });
  return [
    {
      id: 'W1',
      what: `first screen of ${name}, stored, over JSON.parse of it`,
      ratio: ms.firstScreen / ms.parse,
      must: 0.3,
      stretch: 0.1,
      better: 'less',
      figures: { parseMs: ms.parse, firstScreenMs: ms.firstScreen, fromFileMs: ms.fromFile },
    },
  ];
}

export const wholeParts: readonly Part[] = [{ rows: ['W1'], run: whole }];
