import { addCard, createBox, putProfile } from '../cards/index.js';
import { fork, graph, outlineRows, putTemplate, type WriteChain } from '../chain/index.js';
import type { Commit } from '../contract/index.js';
import { runExperiment, saveExperiment } from '../experiments/index.js';
import { beginTurn, delegate, launchPrincipal, writeTurn } from '../handover/index.js';
import { followJob, openLiveJobs, type RunnerParts, startJob } from '../runner/index.js';
import { createTicket, discuss, giveVerdict, moveTicket } from '../tickets/index.js';
import { addEntity, createSpace, listEntities, listRuns, post, send, setGoals, setMemory, setPlan } from '../timeline/index.js';
import type { ModelProvider, ReplyPiece } from '../turns/index.js';

/** The person of the story. Entities are never deleted, so if she exists, the story was written already. */
const person = 'mira';

/**
 * Continues the story of the sample's transcripts in every view: a fork, a handover, profiles and a template, a space with a waiting run,
 * a review with a finding and its discussion, and an experiment. Does nothing if it was written before.
 */
export async function writeSampleStory(chain: WriteChain): Promise<void> {
  if (listEntities(chain).some(({ entityId }) => entityId === person)) return;
  const { reader, experimentId } = chain.artifacts.transaction(() => {
    const commits = graph(chain, { offset: 0, limit: 1_000 }).rows.map(({ commit }) => commit);
    const turn = (beginning: string): Commit | undefined => commits.find(({ summary }) => summary?.startsWith(beginning));
    const inWords = turn('Leave the columns alone');
    const columns = turn('The list looks ragged');
    const search = turn('Forget June');
    forkPrompt(chain, inWords);
    const reader = handOver(chain);
    meet(chain);
    review(chain, inWords, search);
    return { reader, experimentId: inWords && columns ? tryBoth(chain, inWords, columns) : undefined };
  });
  if (reader !== undefined) await read(chain, reader);
  if (experimentId === undefined) return;
  for await (const _ of runExperiment(chain, { experimentId }, []));
}

/** Forks a turn with a more exact prompt, so that Compare can show the branch beside the original. */
function forkPrompt(chain: WriteChain, turn: Commit | undefined): void {
  const key = turn && outlineRows(chain, { id: turn.id }).rows.findLast((row) => row.prompt && row.commit === turn.id)?.key;
  if (!turn || !key) return;
  const text = 'Leave the columns alone. Say it in words instead: today, tomorrow, in 3 days. Keep the date where it is more than a week away.';
  fork(chain, { id: turn.id, at: key, edits: [{ op: 'replace', key, entry: { role: 'user', kind: 'text', text } }] });
}

/** A lead hands part of its work to a reader. Returns the turn of the reader. */
function handOver(chain: WriteChain): string | undefined {
  const text = (words: string) => ({ kind: 'text' as const, text: words });
  for (const [name, does, more] of [
    ['Lead', 'You plan the work on larder and hand out its parts.', {}],
    // The reader searches the histories, which needs the permission of its profile.
    [
      'Reader',
      'You read code and report what you found, with file and line. You change nothing.',
      { allowed_internal_tools: ['search', 'submit_result'] },
    ],
  ] as const)
    putProfile(chain, name, { content: { kind: 'json', data: { name, system_prompt_template: does, ...more } } });
  addCard(chain, askReader);
  for (const content of [
    'Review the change. Say what is wrong, with file and line.',
    'Review the change. Say what is wrong, with file and line. Run the tests.',
  ])
    putTemplate(chain, { name: 'reviewer', bytes: Buffer.from(content), contentType: 'text/plain', author: person });
  const [lead] = launchPrincipal(chain, {
    profileName: 'Lead',
    instruction: 'Find every place in larder that takes a day from UTC, and have it fixed.',
  }).turns;
  if (!lead) return undefined;
  beginTurn(chain, { agentTurnId: lead.agentTurnId });
  const found = addCard(chain, {
    type: 'agent.thought',
    authorId: lead.agentId,
    content: text('`daysLeft` compared a local day with a UTC day. The same pattern may be in `expiry.js` and in the reports.'),
  });
  writeTurn(chain, {
    agentTurnId: lead.agentTurnId,
    cards: [{ type: 'agent.thought', content: text('One place is fixed. A reader should look through the rest, with what is known so far.') }],
  });
  const notes = createBox(chain, [found.cardId]);
  const [reader] = delegate(chain, {
    sourceAgentId: lead.agentId,
    targetStrategy: 'new',
    targetRef: 'Reader',
    instruction: 'Look through src/ for other places that take a day from UTC. Report file and line.',
    contextBoxId: notes.boxId,
  }).turns;
  return reader?.agentTurnId;
}

/** A saved handover, in the form in which the window saves one. */
const askReader = {
  type: 'handover.config',
  content: {
    kind: 'json',
    data: {
      name: 'Ask the reader',
      handover: {
        target_profile_config: { profile_name: 'Reader' },
        context_packing_config: {
          pack_arguments: [{ arg_key: 'instruction', as_card_type: 'task.instruction' }],
          inherit_context: { include_boxes_from_args: [], include_parent: true },
        },
      },
      form: {
        source: 'user',
        profile: 'Reader',
        args: [{ id: 1, name: 'instruction', value: 'Read src/ and report where a day is taken from UTC.', as: 'text' }],
        rules: [{ id: 1, argument: 'instruction', type: 'task.instruction', role: '' }],
        parent: true,
      },
    },
  },
} as const;

/**
 * Carries out the turn of the reader with Stemma's own loop and a scripted model, which searches the histories and then reports. The calls
 * are recorded with their digests, so `turn.reproduce` can prove them.
 */
async function read(chain: WriteChain, turnId: string): Promise<void> {
  const parts: RunnerParts = { chain, live: openLiveJobs(), providers: [scriptedReader()], agents: [], agentRoots: [], dir: '' };
  const { jobId } = startJob(parts, { what: { turnId }, performer: { provider: 'sample', model: 'scripted-reader' } });
  for await (const _ of followJob(parts, jobId));
}

function scriptedReader(): ModelProvider {
  const replies: readonly (readonly ReplyPiece[])[] = [
    [
      { kind: 'text', delta: 'I look for what is known about days and UTC.' },
      { kind: 'tool_call', toolCallId: 'call_search', toolName: 'search', arguments: { text: 'UTC', limit: 5 } },
      { kind: 'usage', tokens: { input: 1_204, output: 38 } },
      { kind: 'end', reason: 'tool_use' },
    ],
    [
      { kind: 'text', delta: 'One more: src/report.js, line 12, cuts an ISO string at the T. No other file does it.' },
      { kind: 'usage', tokens: { input: 2_618, output: 27 } },
      { kind: 'end', reason: 'end_turn' },
    ],
  ];
  let calls = 0;
  return {
    id: 'sample',
    title: 'The script of the sample',
    wire: 'anthropic',
    models: async () => ({ models: ['scripted-reader'] }),
    async *stream() {
      yield* replies[calls++] ?? [];
    },
  };
}

/** The agent of the story waits this long, so that it still waits when a person first opens the sample. */
const aDay = 24 * 3_600_000;

/** A person and an agent in a space: the agent has asked the person and waits for the answer. Another agent has a plan. */
function meet(chain: WriteChain): void {
  const mira = addEntity(chain, { entityId: person, name: 'Mira', type: 'human' });
  const coder = addEntity(chain, { entityId: 'larder-coder', name: 'Coder', type: 'agent' });
  const writer = addEntity(chain, { entityId: 'larder-writer', name: 'Writer', type: 'agent' });
  setGoals(chain, coder.entityId, [
    { description: 'larder 1.2.1 is released', priority: 2, longTerm: false },
    { description: 'No date in larder depends on UTC', priority: 1, longTerm: true },
  ]);
  setMemory(chain, coder.entityId, 'release', 'Mira decides on version numbers. 1.2.1 holds corrections only.');
  setPlan(chain, { entityId: writer.entityId, name: 'Release notes', instruction: 'Write the notes of the week.', cron: '0 9 * * 1' });
  const space = createSpace(chain, { spaceId: 'larder', name: 'larder', members: [mira.entityId, coder.entityId] });
  post(chain, { spaceId: space.spaceId, senderId: mira.entityId, text: '@Coder is 1.2.1 ready?' });
  const run = listRuns(chain, { entityId: coder.entityId }).find(({ status }) => status === 'running');
  if (run)
    send(chain, {
      runId: run.runId,
      spaceId: space.spaceId,
      text: 'The fix and the changelog are done. @Mira which date shall the changelog have, today or Monday?',
      wait: { for: mira.entityId, timeoutMs: aDay },
    });
}

/** A change in review: a finding that asks for changes, and its discussion from the context of the work. */
function review(chain: WriteChain, work: Commit | undefined, search: Commit | undefined): void {
  const { ticketId } = createTicket(chain, {
    title: 'Say the remaining days in words',
    type: 'feature',
    body: '`larder list` says "today", "tomorrow" and "in 3 days" in place of a number.',
    labels: ['cli'],
    by: '@mira',
  });
  moveTicket(chain, { ticketId, to: 'in_progress', assignee: '@coder', by: '@coder', ...(work && { contextId: work.id }) });
  moveTicket(chain, { ticketId, to: 'review', reviewers: ['@mira'], by: '@coder' });
  const finding = createTicket(chain, {
    title: 'A jar that expired yesterday is not tested',
    type: 'review_finding',
    body: 'The words for days in the past have no test. What does the list say for a jar that expired yesterday?',
    parent: ticketId,
    by: '@mira',
    ...(work && { contextId: work.id }),
  });
  giveVerdict(chain, { ticketId, reviewer: '@mira', verdict: 'changes_requested' });
  discuss(chain, { ticketId: finding.ticketId, text: 'Did you look at negative numbers when you wrote `inWords`?', principal: '@mira' });
  createTicket(chain, {
    title: 'Take days from the local calendar everywhere',
    type: 'bug',
    body: 'Found while looking for other places that use UTC.',
    labels: ['dates'],
    by: '@coder',
    ...(search && { contextId: search.id }),
  });
}

/** Two turns of the story as an experiment on their recordings, with checks. */
const tryBoth = (chain: WriteChain, inWords: Commit, columns: Commit): string =>
  saveExperiment(chain, {
    title: 'Words or columns for the remaining days',
    note: 'Which of the two replies ran the tests? Add a case with a model to compare it with the recordings.',
    checks: [
      { kind: 'calls', toolName: 'Bash' },
      { kind: 'contains', text: 'tests pass' },
    ],
    cases: [
      { title: 'In words, as recorded', turnId: inWords.id, provider: 'recorded' },
      { title: 'In columns, as recorded', turnId: columns.id, provider: 'recorded' },
    ],
  }).experimentId;
