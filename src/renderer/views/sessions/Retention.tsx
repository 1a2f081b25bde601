import type { FoundSource } from '../../../core/contract/index.js';
import { agentName, say } from '../../parts';
import type { Listed } from './rows';

/** Says after how many days agents delete their histories, while some of theirs are not imported. The button above imports them. */
export function Retention({ places, listed }: { places: readonly FoundSource[]; listed: readonly Listed[] }) {
  const waiting = new Set(listed.flatMap(({ session, agent }) => (session ? [] : [agent])));
  const told = places.flatMap(({ agent, deletes }) => (deletes && waiting.has(agent) ? [{ agent, ...deletes }] : []));
  if (told.length === 0) return null;
  return (
    <p className="sessions-foot muted">
      {told
        .map(
          ({ agent, days, setting }) =>
            `${agentName(agent)} deletes its histories after ${say.plural(days, 'day')}${setting === null ? ' unless a setting says otherwise' : ''}.`,
        )
        .join(' ')}{' '}
      Import keeps them in this project.
    </p>
  );
}
