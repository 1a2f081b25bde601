import { ArrowRightLeft } from 'lucide-react';
import { api } from '../../client';
import { Answer, Button, Empty, Switch, say } from '../../parts';
import { go, useKept, useNavigation, useProject, useQuery } from '../../state';
import { Pack } from './Pack';
import { Picture } from './Picture';
import { TurnPane } from './Turn';

/** Who handed what to whom, and packing by hand. */
export function HandoverView({ project }: { project: string }) {
  const revision = useProject((state) => state.revision);
  const chosen = useNavigation(({ route }) => route.turn);
  const query = useKept(
    useQuery(`${project} ${revision}`, () => api.handover.map({})),
    project,
  );
  const shown = useNavigation(({ route }) => route.handovers) ?? 'map';
  const setShown = (what: 'map' | 'pack') => go({ handovers: what === 'pack' ? what : undefined });
  return (
    <section className="handover" aria-label="Handover">
      <div className="handover-tools">
        <Switch
          label="What to show"
          value={shown}
          onChange={setShown}
          options={[
            { value: 'map', name: 'Handovers', hint: 'Who handed what to whom' },
            { value: 'pack', name: 'Pack', hint: 'Pack a context by hand' },
          ]}
        />
        {shown === 'map' && query.status === 'done' && (
          <span className="muted">
            {say.plural(query.data.agents.length, 'agent')} · {say.plural(query.data.turns.length, 'handover')}
          </span>
        )}
      </div>
      {shown === 'pack' ? (
        <Pack key={project} project={project} agents={query.status === 'done' ? query.data.agents : []} />
      ) : (
        <Answer query={query} what="The handovers cannot be shown" loading="Reading the handovers" lines={10}>
          {(map) => {
            const turn = map.turns.find((one) => one.agentTurnId === chosen);
            if (map.turns.length === 0)
              return (
                <Empty
                  title="Nothing was handed over yet"
                  picture={<ArrowRightLeft size={48} strokeWidth={1} />}
                  actions={
                    <Button look="primary" onClick={() => setShown('pack')}>
                      Pack a context by hand
                    </Button>
                  }
                >
                  When an agent delegates, forks or asks, this shows from whom to whom, with the cards that went along.
                </Empty>
              );
            return (
              <div className="handover-body" data-chosen={turn !== undefined}>
                <Picture map={map} chosen={chosen} />
                {turn && <TurnPane key={turn.agentTurnId} project={project} turn={turn} agents={map.agents} />}
              </div>
            );
          }}
        </Answer>
      )}
    </section>
  );
}
