import * as timeline from '../timeline/index.js';
import { machine, reads } from './procedure.js';

export const timelineRouter = {
  block: machine.timeline.block.handler(({ input }) => ({ text: timeline.renderBlock(input) })),
  render: machine.timeline.render.handler(({ input }) => timeline.renderTimeline(input)),
  messages: machine.timeline.messages.handler(({ input }) => ({ messages: timeline.timelineMessages(input) })),
  rows: reads.timeline.rows.handler(({ input, context }) => timeline.contextMessages(context.chain, input)),
  transcript: reads.timeline.transcript.handler(({ input, context }) => timeline.contextTimeline(context.chain, input)),
};
