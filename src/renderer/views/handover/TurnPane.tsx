import { BookOpen, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Agent, Box, Card, ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Facts, IconButton, Id, LinkButton, Received, say } from '../../parts';
import { go, openBox, openContext, useQuery } from '../../state';
import { type MapTurn, toolNames } from './map';
import { Packed, type PackedRow } from './Packed';
import { TurnConsole } from './TurnConsole';

/** A handover: its cards with their reasons, and links to the contexts of both agents. */
export function TurnPane({ project, turn, agents }: { project: string; turn: MapTurn; agents: readonly Agent[] }) {
  const { contextBoxId: boxId } = turn;
  const query = useQuery(`${project} ${boxId}`, () => Promise.all([api.box.get({ boxId }), api.box.cards({ boxId })]));
  const name = (agentId: string | undefined): string => agents.find((agent) => agent.agentId === agentId)?.displayName ?? agentId ?? 'unknown';
  const boxLink = (boxId: string): ReactNode => <LinkButton className="mono" label={say.shortId(boxId)} onClick={() => openBox(boxId)} />;
  const contextLink = (commit: ContextId | undefined, label: string) =>
    commit && <Button small icon={BookOpen} label={label} onClick={() => openContext(commit)} />;
  return (
    <aside className="turn-pane stack" aria-label="Handover">
      <header className="thing-head bar wrap">
        <h2 className="grow ellipsis">
          {name(turn.sourceAgentId)} {toolNames[turn.tool] ?? turn.tool} {name(turn.agentId)}
        </h2>
        <IconButton small icon={X} label="Close" onClick={() => go({ turn: undefined })} />
      </header>
      <div className="turn-body overflows stack gap-12">
        <div className="row wrap gap-6">
          {contextLink(turn.fromCommit, `Context of ${name(turn.sourceAgentId)}`)}
          {contextLink(turn.startCommit, `Input of ${name(turn.agentId)}`)}
          {contextLink(turn.endCommit, `Result of ${name(turn.agentId)}`)}
        </div>
        <Facts
          rows={{
            Status: turn.status,
            'Handed over': say.instant(turn.createdAt),
            Ended: turn.endedAt && say.instant(turn.endedAt),
            Target: `${strategyNames[turn.strategy]}: ${name(turn.agentId)}`,
            Turn: <Id id={turn.agentTurnId} what="turn id" />,
            'Context box': boxLink(turn.contextBoxId),
            'Output box': boxLink(turn.outputBoxId),
            'Waiting for': turn.waiting?.join(', '),
            Error: turn.error,
          }}
        />
        <Received received={turn.received} what={{ turnId: turn.agentTurnId }} />
        <TurnConsole project={project} turn={turn} />
        <TurnsOf project={project} turn={turn} />
        <h3>Cards</h3>
        <Answer query={query} what="Cannot load the cards" loading="Loading the cards" lines={4}>
          {([box, { cards }]) => <Packed rows={packedRows(box, cards)} dropped={box.packed?.dropped ?? []} />}
        </Answer>
      </div>
    </aside>
  );
}

function TurnsOf({ project, turn }: { project: string; turn: MapTurn }) {
  const query = useQuery(`${project} turns ${turn.agentId} ${turn.status}`, () => api.agent.turns({ agentId: turn.agentId }));
  const others = (query.data ?? []).filter(({ agentTurnId }) => agentTurnId !== turn.agentTurnId);
  if (others.length === 0) return null;
  return (
    <details>
      <summary>{say.plural(others.length, 'other turn')} of this agent</summary>
      <ul>
        {others.map((other) => (
          <li key={other.agentTurnId}>
            <LinkButton label={say.instant(other.createdAt)} onClick={() => go({ turn: other.agentTurnId })} />{' '}
            <span className="muted">{other.status}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

const strategyNames = { new: 'New agent', reuse: 'Existing agent', clone: 'Clone' } as const;

function packedRows({ cardIds, packed }: Box, cards: readonly Card[]): PackedRow[] {
  const known = new Map(cards.map((card) => [card.cardId, card]));
  const reasons = (packed?.runs ?? []).flatMap(({ cards: count, ...run }) => Array.from({ length: count }, () => run));
  return cardIds.map((cardId, place) => {
    const card = known.get(cardId);
    return {
      cardId,
      ...(reasons[place] ?? { reason: 'inherited' }),
      type: card?.type ?? 'unknown',
      role: card?.metadata.role ?? 'user',
      content: card?.content,
      state: card ? (card.deletedAt !== undefined ? 'deleted' : card.expired ? 'expired' : undefined) : 'missing',
    };
  });
}
