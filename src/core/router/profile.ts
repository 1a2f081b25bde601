import * as cards from '../cards/index.js';
import { reads, writes } from './procedure.js';

export const profileRouter = {
  put: writes.profile.put.handler(({ input, context }) => cards.putProfile(context.chain, input.name, input.card, input.profileBoxId)),
  delete: writes.profile.delete.handler(({ input, context }) => cards.deleteProfile(context.chain, input.name, input.deleted)),
  find: reads.profile.find.handler(({ input, context }) => cards.findProfile(context.chain, input.name)),
  list: reads.profile.list.handler(({ context }) => cards.listProfiles(context.chain)),
};
