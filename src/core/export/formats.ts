import type { ContextId } from '../base/index.js';
import { entriesInTurn, findCommit, type ReadChain, type Step, tierAlong, walk } from '../chain/index.js';
import type { ExportFormat, ExportUse, Stop } from '../contract/index.js';
import { deltaLosses, type LossSum, lossCountsIn, lossSum } from '../formats/index.js';
import { type Lost, lossesAlong, lossesSinceSums } from '../usage/index.js';
import { canRedact } from './context.js';
import { type ExportTarget, idOf, targets } from './documents.js';
import { resumedFormats } from './resume.js';

/** The formats that a context can be exported to, with the losses of each. */
export function exportFormats(chain: ReadChain, { id, stop = 'compaction' }: { id: ContextId; stop?: Stop | undefined }): ExportFormat[] {
  const tip = findCommit(chain, id);
  const deltas = (stop === 'compaction' ? lossesSinceSums(chain, tip) : undefined) ?? [...lossesIn(chain, walk(chain, tip, stop).contributing)];
  const rows = targets.map((target) => ({ target, tier: target.format ? tierAlong(deltas, target.format) : 'rendered' }) as const);
  // Commits that have the format already are copied without losses, so a format of some of the commits has a count of its own.
  const own = [...new Set(deltas.map(({ format }) => format))].filter((format) =>
    rows.some(({ target, tier }) => tier !== 'native' && idOf(target) === format),
  );
  const sums = new Map<string | undefined, LossSum>([undefined, ...own].map((format) => [format, lossSum()]));
  for (const { format, losses } of deltas) for (const [target, sum] of sums) if (target !== format) sum.add(losses);
  const counts = new Map([...sums].map(([format, sum]) => [format, sum.counts()] as const));
  return rows.map(({ target, tier }) => {
    const { contentType, about } = target.doc ?? target.format;
    const counted = counts.get(idOf(target)) ?? counts.get(undefined) ?? [];
    return {
      format: idOf(target),
      ...about,
      use: useOf(target),
      contentType,
      tier,
      redacts: canRedact(target),
      lossCounts: tier === 'native' ? [] : [...lossCountsIn(target.doc ?? target.format, counted)],
    };
  });
}

/** The losses of each delta: as they are stored, or from the content if results were replaced later. */
function* lossesIn(chain: ReadChain, steps: readonly Step[]): Generator<Lost> {
  const stored = lossesAlong(chain, steps);
  if (stored) for (const [at, losses] of stored.entries()) yield { format: (steps[at] as Step).format, losses };
  else for (const { step, entries } of entriesInTurn(chain, steps)) yield { format: step.format, losses: deltaLosses(entries) };
}

const useOf = ({ doc, format }: ExportTarget): ExportUse =>
  doc || format.tier === 'rendered' ? 'people' : resumedFormats.has(format.id) ? 'agents' : 'programs';
