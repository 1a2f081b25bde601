import { query } from '../search/index.js';
import { searches } from './procedure.js';

export const searchRouter = {
  query: searches.search.query.handler(({ input, context }) => query(context.chain, input)),
};
