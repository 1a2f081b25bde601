import type { ContextId } from '../base/index.js';
import { commitOf, entriesInTurn, type ReadChain, type Step, tierAlong, walk } from '../chain/index.js';
import type { ExportFormat, ExportUse, Stop } from '../contract/index.js';
import { type DeltaLosses, deltaLosses, lossCountsIn, lossSum } from '../formats/index.js';
import { lossesAlong } from '../usage/index.js';
import { canRedact } from './context.js';
import { type ExportTarget, idOf, targets } from './documents.js';
import { resumedFormats } from './resume.js';

/** The formats that a context can be exported to, with the losses of each. */
export function exportFormats(chain: ReadChain, { id, stop }: { id: ContextId; stop?: Stop | undefined }): ExportFormat[] {
  const steps = walk(chain, commitOf(chain, id), stop).contributing;
  const rows = targets.map((target) => ({ target, tier: target.format ? tierAlong(steps, target.format) : 'rendered' }) as const);
  // Commits that have the format already are copied without losses, so a format of some of the commits has a count of its own.
  const own = [...new Set(steps.map(({ format }) => format))].filter((format) =>
    rows.some(({ target, tier }) => tier !== 'native' && idOf(target) === format),
  );
  const sums = new Map<string | undefined, ReturnType<typeof lossSum>>([undefined, ...own].map((format) => [format, lossSum()]));
  for (const { step, losses } of lossesIn(chain, steps)) for (const [format, sum] of sums) if (format !== step.format) sum.add(losses);
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
function* lossesIn(chain: ReadChain, steps: readonly Step[]): Generator<{ readonly step: Step; readonly losses: DeltaLosses }> {
  const stored = lossesAlong(chain, steps);
  if (stored) for (const [at, losses] of stored.entries()) yield { step: steps[at] as Step, losses };
  else for (const { step, entries } of entriesInTurn(chain, steps)) yield { step, losses: deltaLosses(entries) };
}

const useOf = ({ doc, format }: ExportTarget): ExportUse =>
  doc || format.tier === 'rendered' ? 'people' : resumedFormats.has(format.id) ? 'agents' : 'programs';
