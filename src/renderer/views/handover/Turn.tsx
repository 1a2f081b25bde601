import { BookOpen, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Agent, Card, ContextId } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Facts, IconButton, Id, say } from '../../parts';
import { go, useQuery } from '../../state';
import { Packed, type PackedRow } from './Packed';
import { type MapTurn, toolNames } from './picture';

const readContext = async (boxId: string) => {
  const [box, { cards }] = await Promise.all([api.box.get({ boxId }), api.box.cards({ boxId })]);
  return { box, cards };
};

/** A handover: what went along and why, and the way into either agent's context. */
export function TurnPane({ project, turn, agents }: { project: string; turn: MapTurn; agents: readonly Agent[] }) {
  const query = useQuery(`${project} ${turn.contextBoxId}`, () => readContext(turn.contextBoxId));
  const name = (agentId: string | undefined): string => agents.find((agent) => agent.agentId === agentId)?.displayName ?? agentId ?? 'nobody';
  const boxLink = (boxId: string): ReactNode => (
    <button type="button" className="link-button mono" onClick={() => go({ view: 'boxes', box: boxId, card: undefined })}>
      {say.shortId(boxId)}
    </button>
  );
  const into = (commit: ContextId | undefined, words: string) =>
    commit && (
      <Button small icon={BookOpen} onClick={() => go({ view: 'context', commit, entry: undefined, stop: undefined })}>
        {words}
      </Button>
    );
  return (
    <aside className="turn-pane" aria-label="Handover">
      <header className="thing-head">
        <h2 className="grow ellipsis">
          {name(turn.sourceAgentId)} {toolNames[turn.tool] ?? turn.tool} {name(turn.agentId)}
        </h2>
        <IconButton small icon={X} label="Close" onClick={() => go({ turn: undefined })} />
      </header>
      <div className="turn-body">
        <div className="turn-ways">
          {into(turn.fromCommit, `${name(turn.sourceAgentId)} at that moment`)}
          {into(turn.startCommit, `What ${name(turn.agentId)} was given`)}
          {into(turn.endCommit, `${name(turn.agentId)} when it ended`)}
        </div>
        <Facts
          rows={[
            ['Status', turn.status],
            ['Handed over', say.instant(turn.createdAt)],
            turn.endedAt !== undefined && ['Ended', say.instant(turn.endedAt)],
            ['Target', `${strategyNames[turn.strategy]} ${name(turn.agentId)}`],
            ['Turn', <Id key="turn" id={turn.agentTurnId} what="turn id" />],
            ['Context box', boxLink(turn.contextBoxId)],
            ['Output box', boxLink(turn.outputBoxId)],
            turn.waiting !== undefined && ['Waits for', turn.waiting.join(', ')],
            turn.error !== undefined && ['Error', turn.error],
          ]}
        />
        <h3>What went along</h3>
        <Answer query={query} what="The cards cannot be shown" loading="Reading the cards" lines={4}>
          {({ box, cards }) => <Packed rows={rowsOf(box.cardIds, box.packed?.runs ?? [], cards)} dropped={box.packed?.dropped ?? []} />}
        </Answer>
      </div>
    </aside>
  );
}

const strategyNames = { new: 'a new', reuse: 'the same', clone: 'a clone,' } as const;

function rowsOf(
  cardIds: readonly string[],
  runs: readonly {
    readonly reason: PackedRow['reason'];
    readonly argument?: string | undefined;
    readonly boxId?: string | undefined;
    readonly cards: number;
  }[],
  cards: readonly Card[],
): PackedRow[] {
  const known = new Map(cards.map((card) => [card.cardId, card]));
  const reasons = runs.flatMap(({ cards: count, ...run }) => Array.from({ length: count }, () => run));
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
