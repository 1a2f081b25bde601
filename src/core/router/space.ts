import * as timeline from '../timeline/index.js';
import { reads, writes } from './procedure.js';

export const spaceRouter = {
  addEntity: writes.space.addEntity.handler(({ input, context }) => timeline.addEntity(context.chain, input)),
  entities: reads.space.entities.handler(({ context }) => timeline.listEntities(context.chain)),
  create: writes.space.create.handler(({ input, context }) => timeline.createSpace(context.chain, input)),
  join: writes.space.join.handler(({ input, context }) => timeline.joinSpace(context.chain, input.spaceId, input.entityId)),
  leave: writes.space.leave.handler(({ input, context }) => timeline.leaveSpace(context.chain, input.spaceId, input.entityId)),
  list: reads.space.list.handler(({ input, context }) => timeline.listSpaces(context.chain, input.entityId)),
  get: reads.space.get.handler(({ input, context }) => timeline.getSpace(context.chain, input.spaceId)),
  messages: reads.space.messages.handler(({ input, context }) => timeline.spaceMessages(context.chain, input)),
  lines: reads.space.lines.handler(({ input, context }) => ({
    lines: timeline.spaceLines(context.chain, input.spaceId, input.entityId, input.limit ?? 50),
  })),
  wouldTrigger: reads.space.wouldTrigger.handler(({ input, context }) => timeline.wouldTrigger(context.chain, input)),
  post: writes.space.post.handler(({ input, context }) => timeline.post(context.chain, input)),
  wait: reads.space.wait.handler(({ input, context }) => timeline.getWait(context.chain, input.messageId)),
  waits: reads.space.waits.handler(({ input, context }) => timeline.openWaits(context.chain, input)),
  read: writes.space.read.handler(({ input, context }) => timeline.readReceipt(context.chain, input)),
};
