import { useCallback, useState } from 'react';
import type { Entity, Space } from '../../../core/contract/index.js';
import { api } from '../../client';
import { AnswerMemory, useKept, useProject, useQuery } from '../../state';

interface Listed {
  readonly spaces: readonly (Space & { unread: number })[];
  readonly entities: readonly Entity[];
}

const lists = new AnswerMemory<Listed>(2, 'never');

/** The spaces of the project with their unread messages, and all entities. `round` grows with every reload. */
export function useSpaces(project: string) {
  const revision = useProject((state) => state.revision);
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  // The open space stays open while the list reloads.
  const query = useQuery(
    `${project} spaces ${round}`,
    async () => {
      const [spaces, entities] = await Promise.all([api.space.list({}), api.space.entities({})]);
      const me = entities.find((entity) => entity.type === 'human');
      const mine = me ? await api.space.list({ entityId: me.entityId }) : [];
      const unread = new Map(mine.map((one) => [one.spaceId, one.unread]));
      return { spaces: spaces.map((one) => ({ ...one, unread: unread.get(one.spaceId) ?? 0 })), entities };
    },
    lists,
  );
  return { query: useKept(query, project), reload, round: `${round} ${revision}` };
}
