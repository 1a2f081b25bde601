import type { FoundSource } from '../../../core/contract/index.js';
import { agentName, say } from '../../parts';
import type { Listed } from './rows';
import { ImportButton } from './SessionsBar';

export const about =
  'Stemma reads the histories that coding agents leave on this machine and shows what the model saw at every turn, what it cost, and where it went wrong. You can edit any prompt, continue from it in the agent, and compare the answers.';

/** Above the histories on this machine while the project has no session: what Stemma is, where it looked, what it found, and what to do. */
export function Welcome({ places, listed }: { places: readonly FoundSource[]; listed: readonly Listed[] }) {
  return (
    <section className="welcome stack" aria-label="First start">
      <h2>Welcome to Stemma</h2>
      <p>{about}</p>
      <p className="muted">It looked in {say.plural(places.length, 'folder')}:</p>
      <SearchedPlaces places={places} />
      <div>
        <ImportButton listed={listed} />
      </div>
    </section>
  );
}

/** The folders of agents that were searched, with what each contains. */
export function SearchedPlaces({ places }: { places: readonly FoundSource[] }) {
  return (
    <ul className="searched-places breaks gap-4">
      {places.map(({ agent, root, sessions, problem }) => (
        <li key={root}>
          {agentName(agent)} <span className="mono muted">{root}</span>{' '}
          <span className={problem === undefined ? undefined : 'muted'}>
            {problem ?? (sessions === 0 ? 'no session' : say.plural(sessions, 'session'))}
          </span>
        </li>
      ))}
    </ul>
  );
}
