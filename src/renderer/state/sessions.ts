import { api } from '../client';
import { AnswerMemory } from './memory';
import { type Query, useQuery } from './query';

/** The sessions of a project. */
export type SessionList = Awaited<ReturnType<typeof api.session.list>>;

const lists = new AnswerMemory<SessionList>(4, 'never');

/** The sessions of a project that are not archived. A changed `moment` reloads them. */
export const useSessionList = (project: string | undefined, moment = ''): Query<SessionList> =>
  useQuery(project ? `${project} ${moment}` : null, () => api.session.list({}), lists);
