import { implement, ORPCError, ValidationError } from '@orpc/server';
import { type Artifacts, shortOf } from './artifacts/index.js';
import { badRequest, isObject, notFound, StemmaError } from './base/index.js';
import * as cards from './cards/index.js';
import {
  checkpoint,
  commitOf,
  compact,
  entries,
  find,
  fork,
  graph,
  history,
  instantiate,
  listTemplates,
  materialize,
  outlineRows,
  putTemplate,
  resolve,
  show,
  snapshot,
  templateOf,
  tips,
  update,
} from './chain/index.js';
import * as composer from './composer/index.js';
import { contract, type ImportResult } from './contract/index.js';
import * as experiments from './experiments/index.js';
import { exportComparison, exportContext, exportFormats, exportRedacted, resumeIn } from './export/index.js';
import * as handover from './handover/index.js';
import { detect, foundSessions, foundSources, getSource, type ImportEvent, importPaths, listSources, takeIn } from './intake/index.js';
import {
  accountsOf,
  captureStatus,
  changes,
  checkProject,
  compactContext,
  damageBehind,
  inSteps,
  projectInfo,
  projectServices,
  repairProject,
  roots,
  type Session,
  stopWatching,
  storageOf,
  summarizeCommits,
  watchAgents,
} from './project/index.js';
import { captureCall, diffParts, diffRequests, getPart, getRequest, listParts, listRequests, requestSeries } from './requests/index.js';
import { query } from './search/index.js';
import * as tickets from './tickets/index.js';
import * as timeline from './timeline/index.js';
import {
  askContext,
  commonBase,
  compareCalls,
  compareContexts,
  compareMany,
  compareTurns,
  fileAt,
  followingTurns,
  listTurns,
  recordedProvider,
  replaySteps,
  reproduceTurn,
  rerunTurn,
  sideOf,
  stateAt,
  stepEntries,
  turnOf,
  turnRequest,
  whatIf,
} from './turns/index.js';

/** What a door hands to every call: the connection that it came over. */
export interface RouterContext {
  readonly session: Session;
}

/** Every refusal leaves as a value with its code, its data and the call's name; what was not meant is a bug and says so. */
const os = implement(contract)
  .$context<RouterContext>()
  .use(async ({ next, path, context: { session } }) => {
    try {
      return await withTiers(session, () => next());
    } catch (error) {
      const call = path.join('.');
      const refusal = asRefusal(error, call);
      const project = session.openProject();
      throw project && refusal === error ? asRefusal(damageBehind(project.db, error), call) : refusal;
    }
  });

/** What a call reads may lie in a backing store only: then it is fetched, and the call is made again. */
async function withTiers<T>(session: Session, call: () => T): Promise<Awaited<T>> {
  for (;;)
    try {
      const result = await call();
      const project = session.openProject();
      project?.tiers.wake();
      project?.upkeep.wake();
      return result;
    } catch (error) {
      if (!(await session.openProject()?.tiers.fetchFor(error))) throw error;
    }
}

const chainOf = (context: RouterContext) => context.session.project().chain;

function statOf(artifacts: Artifacts, no: Parameters<Artifacts['stat']>[0]) {
  const { no: _, storedSize, labels, ...stat } = artifacts.stat(no);
  return { ...stat, short: shortOf(stat.ref), storedBytes: storedSize, labels: [...labels] };
}

export const router = os.router({
  project: {
    create: os.project.create.handler(({ input, context: { session } }) => projectInfo(session.use(session.engine.create(input)))),
    open: os.project.open.handler(({ input, context: { session } }) =>
      projectInfo(session.use(session.engine.open(input.dir, { repair: input.repair ?? false }))),
    ),
    info: os.project.info.handler(({ context }) => projectInfo(context.session.project())),
    changes: os.project.changes.handler(({ input, context, signal }) => changes(chainOf(context), input.after, signal)),
    storage: os.project.storage.handler(({ context: { session } }) => inSteps(storageOf(session.project()))),
    check: os.project.check.handler(({ input, context: { session } }) =>
      inSteps(input.repair ? repairProject(session.project()) : checkProject(session.project())),
    ),
  },
  artifact: {
    put: os.artifact.put.handler(({ input, context }) => {
      if ((input.data === undefined) === (input.text === undefined)) throw badRequest('data', 'an artifact has its content by one of data and text');
      const bytes = input.data === undefined ? Buffer.from(input.text ?? '') : Buffer.from(input.data, 'base64');
      const { artifacts } = chainOf(context);
      const put = artifacts.transaction(() => artifacts.put(bytes, input));
      return { ref: put.ref, short: shortOf(put.ref), size: put.size, storedBytes: put.storedSize, existed: put.existed };
    }),
    get: os.artifact.get.handler(({ input, context }) => {
      const { artifacts } = chainOf(context);
      const no = artifacts.find(input.ref);
      const { size, contentType } = artifacts.stat(no);
      const bytes = artifacts.readRange(no, input.start ?? 0, input.end ?? size);
      return { data: Buffer.from(bytes).toString('base64'), contentType, size };
    }),
    stat: os.artifact.stat.handler(({ input, context }) => {
      const { artifacts } = chainOf(context);
      return statOf(artifacts, artifacts.find(input.ref));
    }),
    setPolicy: os.artifact.setPolicy.handler(({ input, context }) => {
      const { artifacts } = chainOf(context);
      const no = artifacts.find(input.ref);
      artifacts.setPolicy(no, input.policy, input.ttlSeconds);
      return statOf(artifacts, no);
    }),
    gc: os.artifact.gc.handler(({ input, context }) => inSteps(chainOf(context).artifacts.gc({ ...input, roots }))),
    repack: os.artifact.repack.handler(({ context }) => inSteps(chainOf(context).artifacts.repack())),
    dropCaches: os.artifact.dropCaches.handler(({ context }) => ({ freedBytes: chainOf(context).artifacts.dropCaches() })),
  },
  template: {
    put: os.template.put.handler(({ input, context }) => {
      if ((input.data === undefined) === (input.text === undefined)) throw badRequest('data', 'a template has its content by one of data and text');
      const bytes = input.data === undefined ? Buffer.from(input.text ?? '') : Buffer.from(input.data, 'base64');
      return putTemplate(chainOf(context), { ...input, bytes, contentType: input.contentType ?? 'text/plain' });
    }),
    get: os.template.get.handler(({ input, context }) => templateOf(chainOf(context), input.template)),
    list: os.template.list.handler(({ input, context }) => listTemplates(chainOf(context), input.name)),
  },
  tier: {
    list: os.tier.list.handler(({ context: { session } }) => session.project().tiers.list()),
    set: os.tier.set.handler(({ input, context: { session } }) => {
      const project = session.project();
      if (input.credentials) session.engine.keys.set(project.projectId, input.name, input.credentials);
      project.tiers.set(input.name, { place: input.place, takes: input.takes ?? 'replicate' });
      return project.tiers.list();
    }),
    remove: os.tier.remove.handler(({ input, context: { session } }) => {
      const project = session.project();
      project.tiers.remove(input.name);
      session.engine.keys.set(project.projectId, input.name, undefined);
      return project.tiers.list();
    }),
    replicate: os.tier.replicate.handler(async ({ context: { session } }) => {
      const { problems, ...done } = await session.project().tiers.replicate();
      return { ...done, problems: [...problems] };
    }),
  },
  context: {
    checkpoint: os.context.checkpoint.handler(({ input, context }) => checkpoint(chainOf(context), input)),
    materialize: os.context.materialize.handler(({ input, context }) => {
      const made = materialize(chainOf(context), input);
      return { ...made, commits: [...made.commits], losses: [...made.losses], lossCounts: [...made.lossCounts] };
    }),
    resolve: os.context.resolve.handler(({ input, context }) => resolve(chainOf(context), input.principal, input.at)),
    show: os.context.show.handler(({ input, context }) => show(chainOf(context), input.id)),
    history: os.context.history.handler(({ input, context }) => history(chainOf(context), input.id, input.depth)),
    update: os.context.update.handler(({ input, context }) => update(chainOf(context), input.id, input)),
    tips: os.context.tips.handler(({ input, context }) => tips(chainOf(context), input)),
    graph: os.context.graph.handler(({ input, context }) => graph(chainOf(context), input)),
    entries: os.context.entries.handler(({ input, context }) => entries(chainOf(context), input)),
    outline: os.context.outline.handler(({ input, context }) => outlineRows(chainOf(context), input)),
    find: os.context.find.handler(({ input, context }) => find(chainOf(context), input)),
    fork: os.context.fork.handler(({ input, context }) => fork(chainOf(context), input)),
    compact: os.context.compact.handler(({ input, context }) => compact(chainOf(context), input.id, input.summary)),
    snapshot: os.context.snapshot.handler(({ input, context }) => snapshot(chainOf(context), input.id, input.stop)),
    summarize: os.context.summarize.handler(({ input, context, signal }) =>
      summarizeCommits(chainOf(context), input, context.session.engine.options.providers ?? [], signal),
    ),
    instantiate: os.context.instantiate.handler(({ input, context }) => {
      const made = instantiate(chainOf(context), input);
      return { ...made, commits: [...made.commits] };
    }),
    diff: os.context.diff.handler(({ input, context }) => compareContexts(chainOf(context), input)),
    diffCalls: os.context.diffCalls.handler(({ input, context }) => compareCalls(chainOf(context), input)),
  },
  export: {
    formats: os.export.formats.handler(({ input, context }) => exportFormats(chainOf(context), input)),
    context: os.export.context.handler(async ({ input, context }) => {
      const { redactions, ...made } = await (input.redact ? exportRedacted : exportContext)(chainOf(context), input);
      return { ...made, losses: [...made.losses], lossCounts: [...made.lossCounts], ...(redactions && { redactions: [...redactions] }) };
    }),
    comparison: os.export.comparison.handler(({ input, context }) => exportComparison(chainOf(context), input)),
    resume: os.export.resume.handler(({ input, context: { session } }) =>
      resumeIn(session.project().chain, session.engine.options.agentRoots, input),
    ),
  },
  import: {
    detect: os.import.detect.handler(({ input }) => detect(input.paths)),
    run: os.import.run.handler(async function* ({ input, context, signal }) {
      const run = importPaths(chainOf(context), input, context.session.engine.planner);
      let last: ImportEvent | undefined;
      try {
        for (;;) {
          const step = run.next();
          if (step.done) return step.value satisfies ImportResult;
          if (step.value !== last) yield step.value;
          last = step.value;
          // Between two files the engine hears others, and hears that it is to stop.
          await new Promise((resolve) => setImmediate(resolve));
          signal?.throwIfAborted();
        }
      } finally {
        // Left in the middle, it lets go of what was read ahead.
        run.return(undefined as never);
      }
    }),
  },
  capture: {
    watch: os.capture.watch.handler(({ input, context: { session } }) => watchAgents(session.engine, session.project(), input)),
    status: os.capture.status.handler(({ context: { session } }) => captureStatus(session.engine, session.project())),
    stop: os.capture.stop.handler(({ input, context: { session } }) => stopWatching(session.engine, session.project(), input)),
    checkpoint: os.capture.checkpoint.handler(({ input, context }) => {
      const { rests: _, ended: __, ...taken } = takeIn(chainOf(context), input.path, { what: 'settled', granularity: 'turn_boundary', ...input });
      return { ...taken, skipped: [...taken.skipped] };
    }),
  },
  source: {
    list: os.source.list.handler(({ context }) => listSources(chainOf(context))),
    get: os.source.get.handler(({ input, context }) => getSource(chainOf(context), input.sourceId, input.path)),
  },
  library: {
    sources: os.library.sources.handler(({ context: { session } }) => foundSources(session.engine.options.agentRoots)),
    sessions: os.library.sessions.handler(({ input, context: { session } }) => {
      const { agentRoots } = session.engine.options;
      const place = agentRoots.find(({ root }) => root === input.root);
      if (!place)
        throw badRequest('root', `${input.root} is none of the places that Stemma looks in: ${agentRoots.map(({ root }) => root).join(', ')}`);
      const db = session.openProject()?.chain.db;
      const known = new Set(
        db
          ?.all<{ path: string; size: number }>('SELECT path, size FROM source WHERE project = ?', session.project().chain.project)
          .map((row) => `${row.size} ${row.path}`),
      );
      return [...foundSessions(place, (path, bytes) => known.has(`${bytes} ${path}`))];
    }),
    recent: os.library.recent.handler(({ context: { session } }) => session.engine.recent()),
    sample: os.library.sample.handler(({ context: { session } }) => ({ dir: session.engine.sample() })),
    home: os.library.home.handler(({ context: { session } }) => ({ dir: session.engine.home() })),
    startup: os.library.startup.handler(({ context: { session } }) => {
      const { startup, platform } = session.engine.options;
      return { paths: [...startup.paths], project: startup.project, platform };
    }),
  },
  ticket: {
    create: os.ticket.create.handler(({ input, context }) => tickets.createTicket(chainOf(context), input)),
    update: os.ticket.update.handler(({ input, context }) => tickets.updateTicket(chainOf(context), input)),
    get: os.ticket.get.handler(({ input, context }) => tickets.ticketOf(chainOf(context), input.ticketId)),
    list: os.ticket.list.handler(({ input, context }) => tickets.listTickets(chainOf(context), input)),
    overview: os.ticket.overview.handler(({ input, context }) => tickets.overview(chainOf(context), input)),
    facets: os.ticket.facets.handler(({ context }) => tickets.facets(chainOf(context))),
    transition: os.ticket.transition.handler(({ input, context }) => tickets.moveTicket(chainOf(context), input)),
    verdict: os.ticket.verdict.handler(({ input, context }) => tickets.giveVerdict(chainOf(context), input)),
    discuss: os.ticket.discuss.handler(({ input, context }) => tickets.discuss(chainOf(context), input)),
    answer: os.ticket.answer.handler(({ input, context, signal }) =>
      tickets.answer(chainOf(context), input, context.session.engine.options.providers ?? [], signal),
    ),
    thread: os.ticket.thread.handler(({ input, context }) => tickets.thread(chainOf(context), input.ticketId)),
    startFrom: os.ticket.startFrom.handler(({ input, context }) => tickets.startFrom(chainOf(context), input)),
    ofContexts: os.ticket.ofContexts.handler(({ input, context }) => tickets.ticketsOfContexts(chainOf(context), input)),
    events: os.ticket.events.handler(({ input, context }) => tickets.events(chainOf(context), input)),
    acknowledge: os.ticket.acknowledge.handler(({ input, context }) => tickets.acknowledge(chainOf(context), input)),
    import: os.ticket.import.handler(({ input, context }) => tickets.importTickets(chainOf(context), input)),
  },
  timeline: {
    block: os.timeline.block.handler(({ input }) => ({ text: timeline.renderBlock(input) })),
    render: os.timeline.render.handler(({ input }) => timeline.renderTimeline(input)),
    messages: os.timeline.messages.handler(({ input }) => ({ messages: timeline.timelineMessages(input) })),
    transcript: os.timeline.transcript.handler(({ input, context }) => timeline.contextTimeline(chainOf(context), input)),
  },
  space: {
    addEntity: os.space.addEntity.handler(({ input, context }) => timeline.addEntity(chainOf(context), input)),
    entities: os.space.entities.handler(({ context }) => timeline.listEntities(chainOf(context))),
    create: os.space.create.handler(({ input, context }) => timeline.createSpace(chainOf(context), input)),
    join: os.space.join.handler(({ input, context }) => timeline.joinSpace(chainOf(context), input.spaceId, input.entityId)),
    leave: os.space.leave.handler(({ input, context }) => timeline.leaveSpace(chainOf(context), input.spaceId, input.entityId)),
    list: os.space.list.handler(({ input, context }) => timeline.listSpaces(chainOf(context), input.entityId)),
    get: os.space.get.handler(({ input, context }) => timeline.getSpace(chainOf(context), input.spaceId)),
    messages: os.space.messages.handler(({ input, context }) => timeline.spaceMessages(chainOf(context), input)),
    wouldTrigger: os.space.wouldTrigger.handler(({ input, context }) => timeline.wouldTrigger(chainOf(context), input)),
    post: os.space.post.handler(({ input, context }) => timeline.post(chainOf(context), input)),
    read: os.space.read.handler(({ input, context }) => timeline.readReceipt(chainOf(context), input)),
  },
  run: {
    list: os.run.list.handler(({ input, context }) => timeline.listRuns(chainOf(context), input)),
    get: os.run.get.handler(({ input, context }) => timeline.getRun(chainOf(context), input.runId)),
    timeline: os.run.timeline.handler(({ input, context }) => timeline.runTimeline(chainOf(context), input.runId, input.budget)),
    preview: os.run.preview.handler(({ input, context }) => timeline.previewTimeline(chainOf(context), input)),
    start: os.run.start.handler(({ input, context }) => timeline.startByTrigger(chainOf(context), input.entityId, input.trigger)),
    enterSpace: os.run.enterSpace.handler(({ input, context }) => timeline.enterSpace(chainOf(context), input.runId, input.spaceId)),
    send: os.run.send.handler(({ input, context }) => timeline.send(chainOf(context), input)),
    read: os.run.read.handler(({ input, context }) => timeline.readMessages(chainOf(context), input)),
    tick: os.run.tick.handler(({ context }) => timeline.tick(chainOf(context))),
    finish: os.run.finish.handler(({ input, context }) => timeline.finishRun(chainOf(context), input)),
    goals: os.run.goals.handler(({ input, context }) => timeline.goalsOf(chainOf(context), input.entityId)),
    setGoals: os.run.setGoals.handler(({ input, context }) => timeline.setGoals(chainOf(context), input.entityId, input.goals)),
    memories: os.run.memories.handler(({ input, context }) => timeline.memoriesOf(chainOf(context), input.entityId)),
    setMemory: os.run.setMemory.handler(({ input, context }) => timeline.setMemory(chainOf(context), input.entityId, input.topic, input.content)),
    plans: os.run.plans.handler(({ input, context }) => timeline.plansOf(chainOf(context), input.entityId)),
    setPlan: os.run.setPlan.handler(({ input, context }) => timeline.setPlan(chainOf(context), input)),
  },
  search: {
    query: os.search.query.handler(({ input, context }) => query(chainOf(context), input)),
  },
  card: {
    add: os.card.add.handler(({ input, context }) => cards.addCard(chainOf(context), input.card)),
    get: os.card.get.handler(({ input, context }) => cards.getCard(chainOf(context), input.cardId)),
    batch: os.card.batch.handler(({ input, context }) => cards.batchCards(chainOf(context), input.cardIds)),
    delete: os.card.delete.handler(({ input, context }) => cards.deleteCard(chainOf(context), input.cardId, input.author)),
    history: os.card.history.handler(({ input, context }) => cards.cardHistory(chainOf(context), input.cardId)),
    boxes: os.card.boxes.handler(({ input, context }) => cards.boxesOf(chainOf(context), input.cardId)),
    list: os.card.list.handler(({ input, context }) => cards.listCards(chainOf(context), input)),
    facets: os.card.facets.handler(({ context }) => cards.cardFacets(chainOf(context))),
  },
  box: {
    create: os.box.create.handler(({ input, context }) => cards.createBox(chainOf(context), input.cardIds, input.boxId)),
    get: os.box.get.handler(({ input, context }) => cards.getBox(chainOf(context), input.boxId)),
    batch: os.box.batch.handler(({ input, context }) => cards.batchBoxes(chainOf(context), input.boxIds)),
    cards: os.box.cards.handler(({ input, context }) => cards.boxCards(chainOf(context), input.boxId)),
    append: os.box.append.handler(({ input, context }) => cards.appendToBox(chainOf(context), input.boxId, input.cardIds)),
    replace: os.box.replace.handler(({ input, context }) => cards.replaceBox(chainOf(context), input.boxId, input.cardIds)),
    list: os.box.list.handler(({ input, context }) => cards.listBoxes(chainOf(context), input)),
    entries: os.box.entries.handler(({ input, context }) => cards.boxEntries(chainOf(context), input.boxId)),
    fromContext: os.box.fromContext.handler(({ input, context }) => cards.boxFromContext(chainOf(context), input)),
    commit: os.box.commit.handler(({ input, context }) => cards.commitBox(chainOf(context), input)),
  },
  profile: {
    put: os.profile.put.handler(({ input, context }) => cards.putProfile(chainOf(context), input.name, input.card, input.profileBoxId)),
    find: os.profile.find.handler(({ input, context }) => cards.findProfile(chainOf(context), input.name)),
    list: os.profile.list.handler(({ context }) => cards.listProfiles(chainOf(context))),
  },
  handover: {
    pack: os.handover.pack.handler(({ input, context }) => handover.pack(chainOf(context), input)),
    preview: os.handover.preview.handler(({ input, context }) => handover.previewPack(chainOf(context), input)),
    packWithInstruction: os.handover.packWithInstruction.handler(({ input, context }) => handover.packWithInstruction(chainOf(context), input)),
    delegate: os.handover.delegate.handler(({ input, context }) => handover.delegate(chainOf(context), input)),
    forkJoin: os.handover.forkJoin.handler(({ input, context }) => handover.forkJoin(chainOf(context), input)),
    launchPrincipal: os.handover.launchPrincipal.handler(({ input, context }) => handover.launchPrincipal(chainOf(context), input)),
    askExpert: os.handover.askExpert.handler(({ input, context }) => handover.askExpert(chainOf(context), input)),
    batch: os.handover.batch.handler(({ input, context }) => handover.batchOf(chainOf(context), input.batchId)),
    map: os.handover.map.handler(({ context }) => handover.handoverMap(chainOf(context))),
  },
  agent: {
    register: os.agent.register.handler(({ input, context }) => handover.registerAgent(chainOf(context), input)),
    get: os.agent.get.handler(({ input, context }) => handover.toAgent(handover.agentOf(chainOf(context), input.agentId))),
    turns: os.agent.turns.handler(({ input, context }) => handover.turnsOf(chainOf(context), input.agentId)),
    input: os.agent.input.handler(({ input, context }) => handover.turnInput(chainOf(context), input)),
    begin: os.agent.begin.handler(({ input, context }) => handover.beginTurn(chainOf(context), input)),
    write: os.agent.write.handler(({ input, context }) => handover.writeTurn(chainOf(context), input)),
    suspend: os.agent.suspend.handler(({ input, context }) => handover.suspendTurn(chainOf(context), input)),
    answer: os.agent.answer.handler(({ input, context }) => handover.answerTurn(chainOf(context), input)),
    submit: os.agent.submit.handler(({ input, context }) => handover.submitTurn(chainOf(context), input)),
    finish: os.agent.finish.handler(({ input, context }) => handover.finishTurn(chainOf(context), input)),
  },
  projects: {
    box: os.projects.box.handler(({ input, context }) => cards.wireBox(chainWithId(context, input.projectId), input.boxId)),
    boxes: os.projects.boxes.handler(({ input, context }) => cards.wireBoxes(chainWithId(context, input.projectId), input.box_ids, input)),
    boxCards: os.projects.boxCards.handler(({ input, context }) =>
      cards.wireBoxCards(chainWithId(context, input.projectId), input.boxId, input.limit),
    ),
    cards: os.projects.cards.handler(({ input, context }) => cards.wireCards(chainWithId(context, input.projectId), input.card_ids)),
    card: os.projects.card.handler(({ input, context }) => cards.wireCardOf(cards.getCard(chainWithId(context, input.projectId), input.cardId))),
  },
  compose: {
    messages: os.compose.messages.handler(({ input }) => composer.composeMessages(input)),
    collect: os.compose.collect.handler(({ input }) => {
      const { contexts, problems } = composer.collectContexts({ ...input, services: composer.servicesOf(input.services ?? {}) });
      return { contexts, problems: [...problems] };
    }),
    patch: os.compose.patch.handler(({ input }) => {
      const patch = composer.buildPatch(input.state, input.calls as readonly composer.StateCall[]);
      return { patch, state: composer.applyPatch(input.state, patch) };
    }),
    shorten: os.compose.shorten.handler(({ input }) => composer.shortenMemory(input)),
    body: os.compose.body.handler(({ input }) => ({ body: composer.requestBody(input.messages, input.provider, input.model) })),
    compact: os.compose.compact.handler(({ input, context, signal }) =>
      compactContext(chainOf(context), input, context.session.engine.options.providers ?? [], signal),
    ),
    preview: os.compose.preview.handler(({ input, context }) => {
      const project = context.session.project();
      const { id } = commitOf(project.chain, input.id);
      return composer.previewContext(entries(project.chain, { id }).entries, projectServices(project, id), input);
    }),
  },
  request: {
    list: os.request.list.handler(({ input, context }) => listRequests(chainOf(context), input)),
    series: os.request.series.handler(({ input, context }) => requestSeries(chainOf(context), input)),
    get: os.request.get.handler(({ input, context }) => getRequest(chainOf(context), input.requestId)),
    diff: os.request.diff.handler(({ input, context }) => diffRequests(chainOf(context), input.a, input.b)),
    parts: os.request.parts.handler(({ context }) => listParts(chainOf(context))),
    part: os.request.part.handler(({ input, context }) => getPart(chainOf(context), input.partId)),
    capture: os.request.capture.handler(({ input, context }) => captureCall(chainOf(context), input)),
    partDiff: os.request.partDiff.handler(({ input, context }) => diffParts(chainOf(context), input.a, input.b)),
  },
  provider: {
    list: os.provider.list.handler(({ context: { session } }) => accountsOf(session.engine.options.accounts).list()),
    set: os.provider.set.handler(async ({ input, context: { session } }) => {
      const accounts = accountsOf(session.engine.options.accounts);
      await accounts.set(input);
      return accounts.list();
    }),
    remove: os.provider.remove.handler(async ({ input, context: { session } }) => {
      const accounts = accountsOf(session.engine.options.accounts);
      await accounts.remove(input.id);
      return accounts.list();
    }),
  },
  experiment: {
    save: os.experiment.save.handler(({ input, context }) => experiments.saveExperiment(chainOf(context), input)),
    list: os.experiment.list.handler(({ context }) => experiments.listExperiments(chainOf(context))),
    get: os.experiment.get.handler(({ input, context }) => experiments.getExperiment(chainOf(context), input.experimentId)),
    remove: os.experiment.remove.handler(({ input, context }) => {
      experiments.removeExperiment(chainOf(context), input.experimentId);
      return {};
    }),
    run: os.experiment.run.handler(({ input, context, signal }) =>
      experiments.runExperiment(chainOf(context), input, context.session.engine.options.providers ?? [], signal),
    ),
    judge: os.experiment.judge.handler(({ input, context }) => experiments.judgeResult(chainOf(context), input)),
    export: os.experiment.export.handler(({ input, context }) => experiments.exportExperiment(chainOf(context), input)),
  },
  turn: {
    list: os.turn.list.handler(({ input, context }) => listTurns(chainOf(context), input)),
    get: os.turn.get.handler(({ input, context }) => turnOf(chainOf(context), input.turnId)),
    steps: os.turn.steps.handler(({ input, context }) => replaySteps(chainOf(context), input.id)),
    state: os.turn.state.handler(({ input, context }) => stateAt(chainOf(context), input)),
    entries: os.turn.entries.handler(({ input, context }) => stepEntries(chainOf(context), input)),
    file: os.turn.file.handler(({ input, context }) => fileAt(chainOf(context), input)),
    reproduce: os.turn.reproduce.handler(({ input, context }) => reproduceTurn(chainOf(context), input.turnId)),
    providers: os.turn.providers.handler(async ({ context: { session } }) => {
      const others = await Promise.all(
        (session.engine.options.providers ?? []).map(async (each) => ({ id: each.id, title: each.title, wire: each.wire, ...(await each.models()) })),
      );
      return [{ ...recordedProvider, models: [] }, ...others.map((provider) => ({ ...provider, models: [...provider.models] }))];
    }),
    rerun: os.turn.rerun.handler(({ input, context, signal }) =>
      rerunTurn(chainOf(context), input, context.session.engine.options.providers ?? [], signal, context.session.engine.questions),
    ),
    answer: os.turn.answer.handler(({ input: { questionId, text, isError }, context: { session } }) => {
      session.engine.questions.answer(questionId, text === undefined ? undefined : { text, isError: isError ?? false });
      return {};
    }),
    request: os.turn.request.handler(({ input, context }) =>
      turnRequest(chainOf(context), commitOf(chainOf(context), input.turnId, 'turnId'), input.wire ?? 'anthropic'),
    ),
    ask: os.turn.ask.handler(({ input, context, signal }) =>
      askContext(chainOf(context), input, context.session.engine.options.providers ?? [], signal),
    ),
    compare: os.turn.compare.handler(({ input, context }) => compareTurns(chainOf(context), input.a, input.b)),
    following: os.turn.following.handler(({ input, context }) => followingTurns(chainOf(context), input)),
    whatIf: os.turn.whatIf.handler(({ input, context, signal }) =>
      whatIf(chainOf(context), input, context.session.engine.options.providers ?? [], signal, context.session.engine.questions),
    ),
    sides: os.turn.sides.handler(({ input: { ids }, context }) => ({
      base: commonBase(chainOf(context), ids),
      sides: ids.map((id) => sideOf(chainOf(context), id)),
    })),
    compareMany: os.turn.compareMany.handler(({ input, context }) => compareMany(chainOf(context), input)),
  },
});

/** The project that an address names: the session's, else one that is open. @throws NOT_FOUND */
function chainWithId({ session }: RouterContext, projectId: string) {
  const own = session.openProject();
  const project = own?.projectId === projectId ? own : session.engine.withId(projectId);
  if (!project) throw notFound(projectId, `no project ${projectId} is open`);
  return project.chain;
}

function asRefusal(error: unknown, call: string): unknown {
  if (error instanceof StemmaError)
    return new ORPCError(error.code, { message: error.message, data: { ...error.data, call }, status: statusOf[error.code] });
  if (error instanceof ORPCError && error.cause instanceof ValidationError && error.code === 'BAD_REQUEST') {
    const [issue] = error.cause.issues;
    const unknown = issue && 'keys' in issue && Array.isArray(issue.keys) ? issue.keys.slice(0, 1) : [];
    const field = [...(issue?.path ?? []), ...unknown].map((part) => (isObject(part) ? String(part.key) : String(part))).join('.') || 'input';
    return new ORPCError('BAD_REQUEST', { message: `${field}: ${issue?.message ?? 'the input does not fit'}`, data: { field, call }, status: 400 });
  }
  return error;
}

/** How HTTP says the codes. */
const statusOf = { BAD_REQUEST: 400, UNAUTHORIZED: 401, NOT_FOUND: 404, CONFLICT: 409, LOCKED: 423, CORRUPT: 500, UNAVAILABLE: 503 } as const;
