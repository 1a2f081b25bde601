import type { ContextId } from '../base/index.js';
import { commitOf, entriesInTurn, type ReadChain, tierAlong, walk } from '../chain/index.js';
import type { ExportFormat, ExportUse, Stop } from '../contract/index.js';
import { allLosses, lossCountsIn } from '../formats/index.js';
import { canRedact } from './context.js';
import { type ExportTarget, idOf, targets } from './documents.js';
import { resumedFormats } from './resume.js';

/** The formats that a context can be exported to, with the losses of each. The context is read once for all of them. */
export function exportFormats(chain: ReadChain, { id, stop }: { id: ContextId; stop?: Stop | undefined }): ExportFormat[] {
  const steps = walk(chain, commitOf(chain, id), stop).contributing;
  const rows = targets.map((target) => ({ target, tier: target.format ? tierAlong(steps, target.format) : 'rendered' }) as const);
  // Commits that have the format already are copied without losses, so a format of some of the commits has a count of its own.
  const own = [...new Set(steps.map(({ format }) => format))].filter((format) =>
    rows.some(({ target, tier }) => tier !== 'native' && idOf(target) === format),
  );
  const counters = new Map<string | undefined, ReturnType<typeof allLosses>>([undefined, ...own].map((format) => [format, allLosses()]));
  for (const { step, entries } of entriesInTurn(chain, steps))
    for (const [format, counter] of counters) if (format !== step.format) counter.add(entries);
  const counts = new Map([...counters].map(([format, counter]) => [format, counter.losses().lossCounts] as const));
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

const useOf = ({ doc, format }: ExportTarget): ExportUse =>
  doc || format.tier === 'rendered' ? 'people' : resumedFormats.has(format.id) ? 'agents' : 'programs';
