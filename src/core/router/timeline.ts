import * as timeline from '../timeline/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `timeline`. */
export const timelineRouter = {
  block: os.timeline.block.handler(({ input }) => ({ text: timeline.renderBlock(input) })),
  render: os.timeline.render.handler(({ input }) => timeline.renderTimeline(input)),
  messages: os.timeline.messages.handler(({ input }) => ({ messages: timeline.timelineMessages(input) })),
  rows: os.timeline.rows.handler(({ input, context }) => timeline.contextMessages(chainOf(context), input)),
  transcript: os.timeline.transcript.handler(({ input, context }) => timeline.contextTimeline(chainOf(context), input)),
};
