import { namedFile } from '../files/index.js';
import { importGrowth } from '../follow/index.js';
import { captureStatus, stopWatching, watchAgents } from '../project/index.js';
import { live, writes } from './procedure.js';

export const captureRouter = {
  watch: writes.capture.watch.handler(({ input, context: { session } }) => watchAgents(session.engine, session.project(), input)),
  status: live.capture.status.handler(({ context: { session } }) => captureStatus(session.engine, session.project())),
  stop: writes.capture.stop.handler(({ input, context: { session } }) => stopWatching(session.engine, session.project(), input)),
  checkpoint: writes.capture.checkpoint.handler(({ input, context }) => {
    const { principal, ticketId, machine, ...asked } = input;
    const {
      rests: _,
      ended: __,
      ...growth
    } = importGrowth(context.chain, namedFile(input.path), {
      what: 'settled',
      granularity: 'turn_boundary',
      ...asked,
      signed: { principal, ticketId, machine, isStrict: true },
    });
    return { ...growth, skipped: [...growth.skipped] };
  }),
};
