import { ArrowRightLeft, CircleHelp, GitFork, Play, Send, UserPlus } from 'lucide-react';
import { api } from '../../client';
import { askToDelegate, askToLaunch, expertForm, forkJoinForm, registerForm } from '../../forms';
import { Answer, attempt, Button, Empty, MenuButton, type MenuEntry, Switch, say } from '../../parts';
import { ask, go, useNavigation, useProjectQuery } from '../../state';
import { HandoverMap } from './HandoverMap';
import { Pack } from './Pack';
import { TurnPane } from './TurnPane';

function HandOverMenu() {
  const from = useNavigation(({ route }) => route.box);
  const items: readonly MenuEntry[] = [
    { name: 'Delegate to an agent…', icon: Send, act: attempt(() => askToDelegate('', from)) },
    { name: 'Fork and join several tasks…', icon: GitFork, act: () => ask(forkJoinForm()) },
    { name: 'Launch an agent…', icon: Play, act: () => void askToLaunch() },
    { name: 'Ask an expert…', icon: CircleHelp, act: () => ask(expertForm()) },
    'line',
    { name: 'Register an agent…', icon: UserPlus, act: () => ask(registerForm()) },
  ];
  return <MenuButton label="Ways to hand over" button={<Button small look="primary" label="Hand over" opensMenu />} items={items} />;
}

/** A map of handovers between agents, and a form to pack a box by hand. */
export function HandoverView({ project }: { project: string }) {
  const chosen = useNavigation(({ route }) => route.turn);
  const query = useProjectQuery(project, project, () => api.handover.map({}));
  const shown = useNavigation(({ route }) => route.handovers) ?? 'map';
  const setShown = (what: 'map' | 'pack') => go({ handovers: what === 'pack' ? what : undefined });
  return (
    <section className="handover whole stack" aria-label="Handover">
      <div className="bar gap-12">
        <Switch
          label="Map or form"
          value={shown}
          onChange={setShown}
          options={{ map: ['Handovers', 'Handovers between agents'], pack: ['Pack a box', 'Choose by hand what another agent receives'] }}
        />
        {shown === 'map' && query.data && (
          <span className="muted">
            {say.plural(query.data.agents.length, 'agent')} · {say.plural(query.data.turns.length, 'handover')}
          </span>
        )}
        <span className="grow" />
        <HandOverMenu />
      </div>
      {shown === 'pack' ? (
        <Pack key={project} project={project} agents={query.data?.agents ?? []} />
      ) : (
        <Answer query={query} what="Cannot load the handovers" loading="Loading the handovers" lines={10}>
          {(map) => {
            const turn = map.turns.find((one) => one.agentTurnId === chosen);
            if (map.turns.length === 0)
              return (
                <Empty
                  title="No handovers yet"
                  picture={ArrowRightLeft}
                  acts={[
                    { name: 'Launch an agent', icon: Play, look: 'primary', act: () => void askToLaunch() },
                    { name: 'Pack a box', act: () => setShown('pack') },
                  ]}
                >
                  Handovers between agents appear here, with the cards that each passed on.
                </Empty>
              );
            return (
              <div className="handover-body rest" data-chosen={turn !== undefined}>
                <HandoverMap map={map} chosen={chosen} />
                {turn && <TurnPane key={turn.agentTurnId} project={project} turn={turn} agents={map.agents} />}
              </div>
            );
          }}
        </Answer>
      )}
    </section>
  );
}
