import { api } from '../../client';
import { AgentMark, agentName, Button, basis, Gauge, say } from '../../parts';
import { go, useLive, useProjectQuery, useUi } from '../../state';
import type { Listed } from './rows';

const nearlyFull = 0.8;

/** The sessions on which agents work now, each with the used share of its window. */
export function LiveSessions({ live, names }: { live: readonly Listed[]; names: ReadonlyMap<string, string> }) {
  return (
    <section className="live rigid line-below on-pane" aria-label="Live sessions">
      <h2>
        Live <span className="muted">{live.length}</span>
      </h2>
      <ul>
        {live.map((one) => (
          <LiveRow key={one.key} listed={one} names={names} />
        ))}
      </ul>
    </section>
  );
}

function LiveRow({ listed: { title, agent, repository, session }, names }: { listed: Listed; names: ReadonlyMap<string, string> }) {
  const tip = session?.tips[0];
  const file = useLive(({ capture }) => capture?.files.find((one) => one.tip !== undefined && session?.tips.includes(one.tip)));
  const usage = useProjectQuery(tip, tip ? `usage ${tip}` : null, () => api.usage.context({ id: tip ?? '' }));
  const { counted, limit, model } = usage.data ?? { counted: null, limit: null, model: null };
  const share = counted !== null && limit !== null ? counted / limit : undefined;
  const watch = (): void => {
    useUi.setState({ followsTurns: true });
    go({ view: 'context', session: session?.sessionId, commit: tip, against: undefined, entry: undefined, stop: undefined });
  };
  return (
    <li className="live-row">
      <span className="pulse" aria-hidden />
      <div className="live-what stack">
        <span className="ellipsis live-title">{say.firstLine(title)}</span>
        <span className="ellipsis muted">
          {file?.open ? 'Turn in progress' : 'Waiting for a prompt'}
          {file && ` · changed ${say.when(file.changedAt)}`}
        </span>
      </div>
      <div className="live-meta stack">
        <span className="agent gap-6 row muted">
          <AgentMark agent={agent} /> {agentName(agent)}
        </span>
        <span className="muted ellipsis">{[repository && names.get(repository), model].filter(Boolean).join(' · ')}</span>
      </div>
      <div className="live-gauge">
        <div>
          <b className={share !== undefined && share >= nearlyFull ? 'tone-warn' : undefined}>
            {share === undefined ? (counted === null ? 'not recorded' : `${say.exact(counted)} tokens`) : say.percent(share)}
          </b>
          {counted !== null && limit !== null && (
            <small>
              {say.exact(counted)} of {say.exact(limit)}
            </small>
          )}
        </div>
        {counted !== null && limit !== null && <Gauge tokens={counted} limit={limit} live label="Context window" />}
        <small>{counted === null ? 'No call was counted yet' : `${basis.counted} at the last call`}</small>
      </div>
      <div className="live-cost stack">
        <b>{session?.cost ? say.money(session.cost) : 'no price'}</b>
        <small>turn {session?.turns}</small>
      </div>
      <Button small label="Watch" onClick={watch} />
    </li>
  );
}
