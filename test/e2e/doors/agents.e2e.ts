import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Commit, Entry, GraphRow, Ticket } from '../../../src/core/contract/index.js';
import { type Agent, folders, hasAgent, runAgent, scenario } from '../../support/agents.js';
import { expect, test } from '../../support/e2e.js';
import { built, type Machine, node } from '../../support/machine.js';

/** Real agents on loopback, with Stemma next to them. Skipped on machines without them. */
const agents: readonly Agent[] = ['claude', 'codex', 'pi', 'gemini'];
for (const agent of agents) if (!hasAgent(agent)) console.warn(`skipped: the real ${agent} (../shared/tools/agent-live) is not on this machine`);

async function call<T>(machine: Machine, procedure: string, input: object): Promise<T> {
  const ran = await machine.ask('call', procedure, '--input', JSON.stringify(input));
  if (ran.code !== 0) throw new Error(ran.err);
  return JSON.parse(ran.out) as T;
}

const commits = async (machine: Machine): Promise<Commit[]> => {
  const { rows } = await call<{ rows: { commit: Commit }[] }>(machine, 'context.graph', { offset: 0, limit: 100 });
  return rows.map(({ commit }) => commit).reverse();
};
/** What an agent wrote at its end, after its last turn, is a commit without entries if the turn was stored before. */
const isEnd = ({ checkpoint, messageCount, parent }: Commit): boolean => checkpoint === 'session_end' && messageCount === 0 && parent !== null;

/** The turn of a commit: that before it if the commit is the end of a session. */
async function turnOf(machine: Machine, id: string | undefined): Promise<string | undefined> {
  const commit = (await commits(machine)).find((each) => each.id === id);
  return commit && isEnd(commit) ? (commit.parent ?? undefined) : commit?.id;
}

/** The context of each branch, and every entry of it. The end of a session is no branch where another session went on from its last turn. */
async function contexts(machine: Machine): Promise<string[]> {
  const found: string[] = [];
  const { rows } = await call<{ rows: GraphRow[] }>(machine, 'context.graph', { offset: 0, limit: 100 });
  const childrenOf = new Map(rows.map(({ commit, children }) => [commit.id, children] as const));
  const tips = await call<Commit[]>(machine, 'context.tips', {});
  const isBranch = (tip: Commit): boolean => !isEnd(tip) || tip.parent === null || childrenOf.get(tip.parent) === 1;
  for (const { id } of tips.filter(isBranch))
    for (const stop of ['compaction', 'root']) {
      const { entries } = await call<{ entries: Entry[] }>(machine, 'context.entries', { id, stop });
      found.push(JSON.stringify([stop, ...entries.map(({ source: _, ...entry }) => entry)]));
    }
  return found.sort();
}

/** The same as an import of the whole history into another project. */
async function expectWhole(machine: Machine, histories: string): Promise<void> {
  const captured = await contexts(machine);
  const project = machine.env.STEMMA_PROJECT;
  machine.env.STEMMA_PROJECT = machine.path('imported.stemma');
  await machine.ask('import', histories);
  expect(captured).toEqual(await contexts(machine));
  machine.env.STEMMA_PROJECT = project;
}

interface Watcher {
  readonly process: ChildProcess;
  readonly said: () => string;
}
async function capturing(machine: Machine): Promise<Watcher> {
  const child = spawn(node, [built('cli', 'stemma.js'), 'capture'], { cwd: machine.cwd, env: machine.env });
  let out = '';
  let err = '';
  child.stdout.on('data', (data: Buffer) => (out += data));
  child.stderr.on('data', (data: Buffer) => (err += data));
  await expect.poll(() => err).toContain('Following');
  return { process: child, said: () => out };
}

test.beforeEach(({ machine }) => {
  machine.env.STEMMA_PROJECT = machine.path('work', 'live.stemma');
  machine.env.PI_CODING_AGENT_DIR = machine.path('.pi');
});

test.describe('Claude Code', () => {
  test.skip(!hasAgent('claude'), 'the real agent is not on this machine');

  test('[L5, L8] hooks checkpoint every turn, compaction, subagent and session end', { tag: '@long' }, async ({ machine }) => {
    expect((await machine.run('hook', '--install', '--yes', '--project', machine.env.STEMMA_PROJECT as string)).code).toBe(0);
    const steps = await runAgent('claude', scenario('claude-tour'), machine.dir);
    expect(steps.map(({ ok }) => ok)).toEqual(steps.map(() => true));
    expect(existsSync(join(machine.env.STEMMA_HOME as string, 'hook.log'))).toBe(false);
    const made = (await commits(machine)).filter(({ messageCount, type }) => messageCount > 0 || type === 'compaction');
    expect(made.map(({ summary, checkpoint }) => [summary, checkpoint]).sort()).toEqual([
      ['After the compaction, list the files', 'turn_boundary'],
      ['Compaction (manual)', 'compaction'],
      ['Compaction (manual)', 'compaction'],
      ['Fix the queue retry', 'turn_boundary'],
      ['In a fork', 'turn_boundary'],
      ['Now explain it', 'turn_boundary'],
      ['SUBAGENT: check the queue', 'session_end'],
      ['Try another way', 'turn_boundary'],
    ]);
    await expectWhole(machine, join(machine.claude, 'projects'));
    // According to the agent, no hook has failed and none has changed anything.
    const transcripts = readdirSync(join(machine.claude, 'projects'), { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.jsonl'),
    );
    const told = transcripts.flatMap((path) =>
      readFileSync(join(machine.claude, 'projects', path), 'utf8')
        .split('\n')
        .filter((line) => line.includes('"stop_hook_summary"')),
    );
    expect(told.length).toBeGreaterThan(0);
    for (const line of told) expect(JSON.parse(line)).toMatchObject({ hookErrors: [], preventedContinuation: false });
  });

  test('[L5] killed in the middle of a turn, it keeps its last checkpoint', { tag: '@long' }, async ({ machine }) => {
    const watcher = await capturing(machine);
    const steps = ['First', { prompt: 'Then wait', killAfterMs: 3_000 }];
    const look = { name: 'Bash', input: { command: 'echo files', description: 'Look' } };
    const model = [
      { when: 'Then wait', text: 'I begin.', tools: [look] },
      { when: '^files', text: 'This nobody hears.', delayMs: 100_000 },
    ];
    await runAgent('claude', { steps, model }, machine.dir);
    await expect.poll(watcher.said, { timeout: 60_000 }).toContain('Then wait');
    expect((await commits(machine)).map(({ summary, checkpoint }) => [summary, checkpoint])).toEqual([
      ['First', 'turn_boundary'],
      ['Then wait', 'session_end'],
    ]);
    watcher.process.kill('SIGINT');
    expect(await once(watcher.process, 'close')).toEqual([0, null]);
  });
  test('[C11, C26, K4, K6] an author and a reviewer in one folder keep their own contexts', { tag: '@long' }, async ({ machine }) => {
    const watcher = await capturing(machine);
    const said = (text: string) => ({ when: text, text: `${text}: done.` });
    const works = async (...prompts: string[]) => {
      await runAgent('claude', { steps: prompts, model: prompts.map(said) }, machine.dir);
      await expect.poll(watcher.said, { timeout: 60_000 }).toContain(prompts.at(-1));
      return (await commits(machine)).filter(({ summary }) => prompts.includes(summary ?? ''));
    };
    const author = await works('Make retries work', 'Wait longer between retries');
    const by = author[0]?.principal ?? '';
    const { ticketId } = await call<Ticket>(machine, 'ticket.create', { title: 'Retries', type: 'task', by });
    await call(machine, 'ticket.transition', { ticketId, to: 'in_progress', assignee: by, by });
    const reviewer = await works('Review the retries', 'Look at the limit');
    const reviewedBy = reviewer[0]?.principal ?? '';
    const handed = await call<Ticket>(machine, 'ticket.transition', { ticketId, to: 'review', reviewers: [reviewedBy], by });
    const finding = await call<Ticket>(machine, 'ticket.create', { title: 'No limit', type: 'review_finding', parent: ticketId, by: reviewedBy });

    // Both work in the same folder, and each is a principal.
    for (const [own, principal] of [
      [author, by],
      [reviewer, reviewedBy],
    ] as const) {
      expect(own).toHaveLength(2);
      expect(own.map((commit) => commit.principal)).toEqual([`claude-code@${machine.path('project')}#${own[0]?.sessionId}`, principal]);
      for (const { id, createdAt, machine: host } of own) {
        const found = await call<{ id: string; at: string }>(machine, 'context.resolve', { principal, at: createdAt });
        expect(found.at).toBe(createdAt);
        expect(await turnOf(machine, found.id)).toBe(id);
        expect(host).toBeTruthy();
      }
    }
    expect(by).not.toBe(reviewedBy);
    for (const [ticket, turn] of [
      [handed, author[1]],
      [finding, reviewer[1]],
    ] as const) {
      expect(ticket.contextFound).toBe('resolved');
      expect(await turnOf(machine, ticket.contextId ?? undefined)).toBe(turn?.id);
    }
    // The author asks. The question stands on what the reviewer knew, and moves nobody's understanding.
    const asked = await call<{ commit: Commit }>(machine, 'ticket.discuss', { ticketId: finding.ticketId, text: 'Which limit?', principal: by });
    expect(asked.commit.principal).toBe(by);
    expect(await turnOf(machine, asked.commit.parent ?? undefined)).toBe(reviewer[1]?.id);
    const at = '2050-01-01T00:00:00.000Z';
    for (const [principal, turn] of [
      [by, author[1]],
      [reviewedBy, reviewer[1]],
    ] as const) {
      const { id } = await call<{ id: string }>(machine, 'context.resolve', { principal, at });
      expect(await turnOf(machine, id)).toBe(turn?.id);
    }
    watcher.process.kill('SIGINT');
    expect(await once(watcher.process, 'close')).toEqual([0, null]);
  });
});

const turns = {
  claude: ['Fix the queue retry', 'Now explain it', 'After the compaction, list the files', 'Try another way', 'In a fork'],
  codex: ['Fix the queue retry', 'Now explain it', 'And more, after a compaction', 'In a fork', 'A new thread'],
  pi: ['Fix the queue retry', 'Now explain it', 'After the compaction, go on', 'Try another way', 'And a third way', 'In a fork', 'A new session'],
} satisfies Partial<Record<Agent, readonly string[]>>;

for (const [agent, prompts] of Object.entries(turns) as [Agent, readonly string[]][])
  test(`[L1, L2] the real ${agent}: each turn and compaction is a commit, as in an import`, { tag: '@long' }, async ({ machine }) => {
    test.skip(!hasAgent(agent), 'the real agent is not on this machine');
    mkdirSync(machine.path(`.${agent}`), { recursive: true });
    const watcher = await capturing(machine);
    await runAgent(agent, scenario(`${agent}-tour`), machine.dir);
    await expect.poll(() => prompts.filter((prompt) => !watcher.said().includes(prompt))).toEqual([]);
    watcher.process.kill('SIGINT');
    expect(await once(watcher.process, 'close')).toEqual([0, null]);
    const all = await commits(machine);
    const asked = all.filter(({ summary, type }) => type === 'delta' && prompts.includes(summary ?? ''));
    expect(asked.map(({ summary }) => summary).sort()).toEqual([...prompts].sort());
    expect(all.filter(({ type }) => type === 'compaction').length).toBeGreaterThan(0);
    await expectWhole(machine, machine.path(folders[agent]));
  });
