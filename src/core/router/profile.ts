import * as cards from '../cards/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `profile`. */
export const profileRouter = {
  put: os.profile.put.handler(({ input, context }) => cards.putProfile(chainOf(context), input.name, input.card, input.profileBoxId)),
  delete: os.profile.delete.handler(({ input, context }) => cards.deleteProfile(chainOf(context), input.name, input.deleted)),
  find: os.profile.find.handler(({ input, context }) => cards.findProfile(chainOf(context), input.name)),
  list: os.profile.list.handler(({ context }) => cards.listProfiles(chainOf(context))),
};
