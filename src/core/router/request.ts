import { inSteps } from '../project/index.js';
import { captureCall, diffParts, diffRequests, getPart, getRequest, listParts, listRequestsInSteps, requestSeries } from '../requests/index.js';
import { listsCalls, reads, writes } from './procedure.js';

export const requestRouter = {
  list: listsCalls.request.list.handler(({ input, context }) => inSteps(listRequestsInSteps(context.chain, input))),
  series: reads.request.series.handler(({ input, context }) => inSteps(requestSeries(context.chain, input))),
  get: reads.request.get.handler(({ input, context }) => getRequest(context.chain, input.requestId)),
  diff: reads.request.diff.handler(({ input, context }) => diffRequests(context.chain, input.a, input.b)),
  parts: reads.request.parts.handler(({ context }) => listParts(context.chain)),
  part: reads.request.part.handler(({ input, context }) => getPart(context.chain, input.partId)),
  capture: writes.request.capture.handler(({ input, context }) => captureCall(context.chain, input)),
  partDiff: reads.request.partDiff.handler(({ input, context }) => diffParts(context.chain, input.a, input.b)),
};
