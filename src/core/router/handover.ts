import * as handover from '../handover/index.js';
import { reads, writes } from './procedure.js';

export const handoverRouter = {
  pack: writes.handover.pack.handler(({ input, context }) => handover.pack(context.chain, input)),
  preview: reads.handover.preview.handler(({ input, context }) => handover.previewPack(context.chain, input)),
  packWithInstruction: writes.handover.packWithInstruction.handler(({ input, context }) => handover.packWithInstruction(context.chain, input)),
  delegate: writes.handover.delegate.handler(({ input, context }) => handover.delegate(context.chain, input)),
  forkJoin: writes.handover.forkJoin.handler(({ input, context }) => handover.forkJoin(context.chain, input)),
  launchPrincipal: writes.handover.launchPrincipal.handler(({ input, context }) => handover.launchPrincipal(context.chain, input)),
  askExpert: writes.handover.askExpert.handler(({ input, context }) => handover.askExpert(context.chain, input)),
  batch: reads.handover.batch.handler(({ input, context }) => handover.batchOf(context.chain, input.batchId)),
  map: reads.handover.map.handler(({ context }) => handover.handoverMap(context.chain)),
};
