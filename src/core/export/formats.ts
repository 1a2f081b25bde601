import type { ContextId } from '../base/index.js';
import { commitOf, entriesInTurn, type ReadChain, tierAlong, walk } from '../chain/index.js';
import type { ExportFormat, ExportUse, Stop } from '../contract/index.js';
import { lossCounter } from '../formats/index.js';
import { canRedact } from './context.js';
import { idOf, type Target, targets } from './documents.js';
import { resumedFormats } from './resume.js';

/** The formats that a context can be exported to, with the losses of each. The context is read once for all of them. */
export function exportFormats(chain: ReadChain, { id, stop }: { id: ContextId; stop?: Stop | undefined }): ExportFormat[] {
  const steps = walk(chain, commitOf(chain, id), stop).contributing;
  const rows = targets.map((target) => ({
    target,
    tier: target.format ? tierAlong(steps, target.format) : 'rendered',
    counter: lossCounter(target.doc ?? target.format),
  }));
  // Commits that have the format already are copied without losses.
  const counted = rows.filter(({ tier }) => tier !== 'native');
  for (const { step, entries } of entriesInTurn(chain, steps))
    for (const { target, counter } of counted) if (idOf(target) !== step.format) counter.add(entries);
  return rows.map(({ target, tier, counter }) => {
    const { contentType, about } = target.doc ?? target.format;
    return {
      format: idOf(target),
      ...about,
      use: useOf(target),
      contentType,
      tier,
      redacts: canRedact(target),
      lossCounts: [...counter.losses().lossCounts],
    };
  });
}

const useOf = ({ doc, format }: Target): ExportUse =>
  doc || format.tier === 'rendered' ? 'people' : resumedFormats.has(format.id) ? 'agents' : 'programs';
