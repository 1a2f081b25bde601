import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prompt } from './claude-lines.js';
import { door } from './door.js';
import { model, read, says } from './model-of-jobs.js';
import { scratch } from './project.js';

const text = (words: string) => ({ op: 'append', entry: { role: 'user', kind: 'text', text: words } });
const end = async (stream: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of stream);
};

/**
 * A project in which people and agents have used everything: most tables have a row. With an input for each procedure that reads.
 * Long because it is one story: each step needs what the steps before it made.
 */
export async function everyTable() {
  const made = door({ providers: [model(() => says('The model answers words.'))], machine: 'this-machine' });
  const { client, clock } = made;
  const tick = (): void => {
    clock.at += 1_000;
  };
  const path = join(scratch(), 's1.jsonl');
  writeFileSync(path, prompt('a', 'hello there') + prompt('b', 'again please', { parent: 'a' }));
  await end(await client.import.run({ paths: [path] }));
  const [tip] = await client.context.tips({ sessionId: 's1' });
  const id = tip?.id as never;
  const [source] = await client.source.list({});
  await client.context.update({ id, summary: 'typed summary', tags: ['typed-tag'] });
  await client.session.rename({ sessionId: 's1', title: 'typed session' });
  await client.session.tag({ sessionId: 's1', tags: ['session-tag'] });
  await client.branch.rename({ commit: id, title: 'typed branch' });
  await client.template.put({ name: 'typed-template', text: 'You are typed.', contentType: 'text/plain', author: 'typed-author' });
  await client.context.instantiate({ template: 'typed-template', context: id, principal: 'typed-principal' } as never);
  await client.project.setSettings({ enableShareContext: false });
  await client.context.setSummarizer({ enabled: true, provider: 'model', model: 'typed-model' });
  await client.runner.setPolicy({ rules: [{ for: { agent: 'Typed rule' }, performer: { provider: 'model' } }] });
  const fork = await client.context.fork({ id, edits: [text('Name a typed color.')] as never, summary: 'typed fork' });
  await client.compose.saveState({ id: fork.id, state: { messages: [{ role: 'human', content: 'typed state', id: 'h1' }] } } as never);

  const ticket = await client.ticket.create({ title: 'typed title', type: 'task', body: 'typed body', labels: ['typed-label'], by: 'typed-maker' });
  const finding = await client.ticket.create({
    title: 'typed finding',
    type: 'review_finding',
    parent: ticket.ticketId,
    contextId: id,
    body: 'found',
  });
  await client.ticket.update({ ticketId: finding.ticketId, dependsOn: [ticket.ticketId], reason: 'typed reason' });
  await client.ticket.transition({ ticketId: ticket.ticketId, to: 'review', reviewers: ['typed-reviewer'], by: 'typed-mover' });
  await client.ticket.verdict({ ticketId: ticket.ticketId, reviewer: 'typed-reviewer', verdict: 'commented', reason: 'typed verdict' });
  await client.ticket.discuss({ ticketId: finding.ticketId, text: 'typed discussion' });
  const events = await client.ticket.events({});
  for (const { event } of events.filter(({ state }) => state === 'waiting').slice(0, 1))
    await client.ticket.acknowledge({ event, by: 'typed-taker', as: 'taken' });

  for (const name of ['Writer', 'Critic'])
    await client.profile.put({ name, card: { content: { kind: 'json', data: { name, system_prompt_template: `You are the ${name}.` } } } } as never);
  const card = await client.card.add({
    card: { type: 'task.instruction', content: { kind: 'text', text: 'typed card' }, metadata: { role: 'user' }, authorId: 'typed-ada' },
  });
  await client.card.add({
    card: {
      cardId: card.cardId,
      type: 'task.instruction',
      content: { kind: 'text', text: 'typed repair' },
      metadata: { role: 'user' },
      authorId: 'ada',
    },
  } as never);
  const box = await client.box.create({ cardIds: [card.cardId] });
  const { agentTurnId = '', agentId = '' } = await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'typed instruction' });
  tick();
  await read(await client.runner.start({ what: { turnId: agentTurnId }, performer: { provider: 'model' } }));
  const launched = await client.handover.launchPrincipal({ profileName: 'Writer', instruction: 'typed second' });
  await client.agent.begin({ agentTurnId: launched.agentTurnId ?? '' });
  const tasks = [{ targetStrategy: 'new', targetRef: 'Critic', instruction: 'typed task' }];
  const { batchId = '' } = await client.handover.forkJoin({ sourceAgentId: launched.agentId ?? '', tasks } as never);
  tick();

  const me = await client.space.addEntity({ name: 'Typed Ada', type: 'human' });
  const bot = await client.space.addEntity({ name: 'Typed Bot', type: 'agent' });
  const space = await client.space.create({ name: 'typed space', members: [me.entityId, bot.entityId] });
  const { spaceId } = space;
  const posted = await client.space.post({
    spaceId,
    senderId: me.entityId,
    text: 'typed message',
    expectsReply: true,
    wait: { timeoutMs: 60_000 },
  } as never);
  const { messageId } = posted.message;
  const [run] = await client.run.list({});
  const runId = run?.runId ?? '';
  await client.run.setGoals({ entityId: bot.entityId, goals: [{ description: 'typed goal', priority: 1, longTerm: true }] } as never);
  await client.run.setMemory({ entityId: bot.entityId, topic: 'typed topic', content: 'typed memory' });
  await client.run.setPlan({ entityId: bot.entityId, name: 'typed plan', instruction: 'typed steps', cron: '0 9 * * *' } as never);
  await client.run.read({ runId, spaceId } as never);
  await client.run.send({ runId, spaceId, text: 'typed question', wait: { timeoutMs: 60_000 } } as never);
  const cases = [{ caseId: 'one', title: 'typed case', turnId: fork.id, provider: 'model', model: 'm-1', samples: 1 }];
  const { experimentId } = await client.experiment.save({ title: 'typed experiment', note: 'typed note', cases, checks: [] } as never);
  await end(await client.experiment.run({ experimentId }));
  const { results } = await client.experiment.get({ experimentId });
  await client.experiment.judge({ resultId: results[0]?.resultId ?? '', verdict: 'pass', note: 'typed judgement', by: 'typed-judge' });
  const answered = (results[0]?.commit ?? id) as string;
  const [job] = await client.runner.list({});
  const [turn] = await client.turn.list({ id: answered } as never);
  const [request] = (await client.request.list({ id: answered } as never)).requests;
  const [part] = ((await client.request.parts({})) as { parts?: { partId: string }[] }).parts ?? [];
  const [artifact] = [tip?.artifactRef ?? ''];
  const [entity] = [bot.entityId];

  /** An input for each procedure that reads; the others are called without one. */
  const inputs: Readonly<Record<string, readonly object[]>> = {
    'artifact.get': [{ ref: artifact }],
    'artifact.stat': [{ ref: artifact }],
    'template.get': [{ template: 'typed-template' }],
    'context.materialize': [{ id }],
    'context.resolve': [{ principal: tip?.principal ?? '', at: '2030-01-01T00:00:00.000Z' }],
    ...Object.fromEntries(
      'context.show context.history context.entries context.outline context.versions export.formats turn.steps turn.entries turn.state turn.following usage.context usage.series usage.fillers usage.largest compose.preview compose.rows timeline.transcript timeline.rows'
        .split(' ')
        .map((name) => [name, [{ id }, { id: fork.id }]]),
    ),
    'context.graph': [{ offset: 0, limit: 100 }],
    'context.find': [{ id, text: 'hello' }],
    'context.diff': [{ a: id, b: fork.id }],
    'context.diffCalls': [{ a: id, b: fork.id, pairs: [] }],
    'context.instantiations': [{}],
    'export.context': [{ id, format: 'markdown' }],
    'export.comparison': [{ ids: [id, fork.id] }],
    'session.diagnose': [{ sessionId: 's1' }],
    'session.place': [{ id }],
    'ticket.get': [{ ticketId: ticket.ticketId }, { ticketId: finding.ticketId }],
    'ticket.list': [{}],
    'ticket.thread': [{ ticketId: finding.ticketId }],
    'ticket.preview': [{ event: events.find(({ state }) => state === 'waiting')?.event ?? 0 }],
    'ticket.startFrom': [{ ticketId: finding.ticketId, who: 'reviewer' }],
    'ticket.ofContexts': [{ ids: [id] }],
    'search.query': [{ text: 'typed' }],
    'request.list': [{ id: answered }],
    'request.series': [{ id: answered }],
    'request.get': [{ requestId: request?.requestId ?? '' }],
    'request.diff': [{ a: request?.requestId ?? '', b: request?.requestId ?? '' }],
    'request.part': [{ partId: part?.partId ?? '' }],
    'request.partDiff': [{ a: part?.partId ?? '', b: part?.partId ?? '' }],
    'turn.list': [{ id: answered }, { agentId }],
    'turn.get': [{ turnId: turn?.turnId ?? '' }, { turnId: agentTurnId }],
    'turn.facts': [{ ids: [id] }],
    'turn.file': [{ id, path: '/a' }],
    'turn.reproduce': [{ turnId: turn?.turnId ?? '' }, { turnId: agentTurnId }],
    'turn.request': [{ turnId: turn?.turnId ?? '' }],
    'turn.compare': [{ a: id, b: fork.id }],
    'turn.sides': [{ ids: [id] }],
    'turn.compareMany': [{ ids: [id, fork.id] }],
    'usage.sides': [{ ids: [id] }],
    'usage.compaction': [{ id }],
    'experiment.get': [{ experimentId }],
    'experiment.export': [{ experimentId, format: 'markdown' }],
    'compose.restoreState': [{ id: fork.id }],
    'runner.log': [{ jobId: job?.jobId ?? '' }],
    'space.get': [{ spaceId }],
    'space.messages': [{ spaceId }],
    'space.wouldTrigger': [{ spaceId, senderId: me.entityId }],
    'space.wait': [{ messageId }],
    'run.get': [{ runId }],
    'run.timeline': [{ runId }],
    'run.preview': [{ spaceId, entityId: entity }],
    'run.goals': [{ entityId: entity }],
    'run.memories': [{ entityId: entity }],
    'run.plans': [{ entityId: entity }],
    ...Object.fromEntries(['card.get', 'card.history', 'card.boxes'].map((name) => [name, [{ cardId: card.cardId }]])),
    'card.batch': [{ cardIds: [card.cardId] }],
    ...Object.fromEntries(['box.get', 'box.cards', 'box.entries'].map((name) => [name, [{ boxId: box.boxId }]])),
    'box.batch': [{ boxIds: [box.boxId] }],
    'profile.find': [{ name: 'Writer' }],
    'handover.preview': [{ toolSuffix: 'x', sourceAgentId: agentId, arguments: {} }],
    'handover.batch': [{ batchId }],
    ...Object.fromEntries(['agent.get', 'agent.turns'].map((name) => [name, [{ agentId }, { agentId: launched.agentId }]])),
    'source.get': [{ sourceId: source?.sourceId ?? '' }],
  };
  return { ...made, inputs, id, path };
}
