import * as handover from '../handover/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `handover`. */
export const handoverRouter = {
  pack: os.handover.pack.handler(({ input, context }) => handover.pack(chainOf(context), input)),
  preview: os.handover.preview.handler(({ input, context }) => handover.previewPack(chainOf(context), input)),
  packWithInstruction: os.handover.packWithInstruction.handler(({ input, context }) => handover.packWithInstruction(chainOf(context), input)),
  delegate: os.handover.delegate.handler(({ input, context }) => handover.delegate(chainOf(context), input)),
  forkJoin: os.handover.forkJoin.handler(({ input, context }) => handover.forkJoin(chainOf(context), input)),
  launchPrincipal: os.handover.launchPrincipal.handler(({ input, context }) => handover.launchPrincipal(chainOf(context), input)),
  askExpert: os.handover.askExpert.handler(({ input, context }) => handover.askExpert(chainOf(context), input)),
  batch: os.handover.batch.handler(({ input, context }) => handover.batchOf(chainOf(context), input.batchId)),
  map: os.handover.map.handler(({ context }) => handover.handoverMap(chainOf(context))),
};
