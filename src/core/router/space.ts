import * as timeline from '../timeline/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `space`. */
export const spaceRouter = {
  addEntity: os.space.addEntity.handler(({ input, context }) => timeline.addEntity(chainOf(context), input)),
  entities: os.space.entities.handler(({ context }) => timeline.listEntities(chainOf(context))),
  create: os.space.create.handler(({ input, context }) => timeline.createSpace(chainOf(context), input)),
  join: os.space.join.handler(({ input, context }) => timeline.joinSpace(chainOf(context), input.spaceId, input.entityId)),
  leave: os.space.leave.handler(({ input, context }) => timeline.leaveSpace(chainOf(context), input.spaceId, input.entityId)),
  list: os.space.list.handler(({ input, context }) => timeline.listSpaces(chainOf(context), input.entityId)),
  get: os.space.get.handler(({ input, context }) => timeline.getSpace(chainOf(context), input.spaceId)),
  messages: os.space.messages.handler(({ input, context }) => timeline.spaceMessages(chainOf(context), input)),
  wouldTrigger: os.space.wouldTrigger.handler(({ input, context }) => timeline.wouldTrigger(chainOf(context), input)),
  post: os.space.post.handler(({ input, context }) => timeline.post(chainOf(context), input)),
  wait: os.space.wait.handler(({ input, context }) => timeline.getWait(chainOf(context), input.messageId)),
  waits: os.space.waits.handler(({ input, context }) => timeline.openWaits(chainOf(context), input)),
  read: os.space.read.handler(({ input, context }) => timeline.readReceipt(chainOf(context), input)),
};
