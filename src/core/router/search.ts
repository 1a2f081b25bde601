import { query } from '../search/index.js';
import { chainOf, os } from './procedure.js';

/** The procedures of `search`. */
export const searchRouter = {
  query: os.search.query.handler(({ input, context }) => query(chainOf(context), input)),
};
