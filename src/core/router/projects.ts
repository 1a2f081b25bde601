import { notFound } from '../base/index.js';
import * as cards from '../cards/index.js';
import type { Session } from '../project/index.js';
import { machine } from './procedure.js';

export const projectsRouter = {
  box: machine.projects.box.handler(({ input, context }) => cards.wireBox(chainOf(context, input), input.boxId)),
  boxes: machine.projects.boxes.handler(({ input, context }) => cards.wireBoxes(chainOf(context, input), input.box_ids, input)),
  boxCards: machine.projects.boxCards.handler(({ input, context }) => cards.wireBoxCards(chainOf(context, input), input.boxId, input.limit)),
  cards: machine.projects.cards.handler(({ input, context }) => cards.wireCards(chainOf(context, input), input.card_ids)),
  card: machine.projects.card.handler(({ input, context }) => cards.wireCardOf(cards.getCard(chainOf(context, input), input.cardId))),
};

/** The chain of the project with this id: the session's project, or another open one. @throws NOT_FOUND */
function chainOf({ session }: { readonly session: Session }, { projectId }: { readonly projectId: string }) {
  const own = session.openProject();
  const project = own?.projectId === projectId ? own : session.engine.withId(projectId);
  if (!project) throw notFound(projectId, `no project ${projectId} is open`);
  return project.chain;
}
