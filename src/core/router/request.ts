import { inSteps } from '../project/index.js';
import { captureCall, diffParts, diffRequests, getPart, getRequest, listParts, listRequestsInSteps, requestSeries } from '../requests/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `request`. */
export const requestRouter = {
  list: os.request.list.handler(({ input, context }) => inSteps(listRequestsInSteps(chainOf(context), input))),
  series: os.request.series.handler(({ input, context }) => inSteps(requestSeries(chainOf(context), input))),
  get: os.request.get.handler(({ input, context }) => getRequest(chainOf(context), input.requestId)),
  diff: os.request.diff.handler(({ input, context }) => diffRequests(chainOf(context), input.a, input.b)),
  parts: os.request.parts.handler(({ context }) => listParts(chainOf(context))),
  part: os.request.part.handler(({ input, context }) => getPart(chainOf(context), input.partId)),
  capture: os.request.capture.handler(({ input, context }) => captureCall(chainOf(context), input)),
  partDiff: os.request.partDiff.handler(({ input, context }) => diffParts(chainOf(context), input.a, input.b)),
};
