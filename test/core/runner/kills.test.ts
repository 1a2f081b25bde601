import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { putProfile } from '../../../src/core/cards/index.js';
import { entries, type WriteChain } from '../../../src/core/chain/index.js';
import type { RunPolicy } from '../../../src/core/contract/index.js';
import { handoverMap, launchPrincipal } from '../../../src/core/handover/index.js';
import { openProject, type Project } from '../../../src/core/project/index.js';
import { openLiveJobs, pulse } from '../../../src/core/runner/index.js';
import { addEntity, createSpace, listRuns, post, spaceMessages } from '../../../src/core/timeline/index.js';
import type { ModelProvider } from '../../../src/core/turns/index.js';
import { calls, model, type Reply, says } from '../../support/model-of-jobs.js';
import { emptyProject, heldClock, scratch } from '../../support/project.js';

const performer = { provider: 'model' };

/** Carries out all open work of a project. */
async function work({ chain, dir }: Project, provider: ModelProvider, policy: RunPolicy): Promise<void> {
  const parts = { chain, dir, live: openLiveJobs(), providers: [provider], agents: [], agentRoots: [] };
  for (let pulses = 0; pulses < 20; pulses++) {
    pulse(parts, policy);
    if (parts.live.jobs.size === 0) return;
    await Promise.all([...parts.live.jobs.values()].map(({ done }) => done));
  }
}

/** What a reader of the project could see: it changes with each step of the work, but not with the log of a job. */
const stateOf = ({ db }: WriteChain): string =>
  JSON.stringify([
    db.all('SELECT COUNT(*) FROM card UNION ALL SELECT COUNT(*) FROM commits UNION ALL SELECT COUNT(*) FROM spaceMessage'),
    db.all('SELECT status, waiting FROM agentTurn UNION ALL SELECT status, NULL FROM run'),
  ]);

/** Copies the project after each transaction that changes what a reader sees: what a kill at this moment leaves on the disk. */
function copyEachState({ chain, dir }: Project): string[] {
  const copies: string[] = [];
  let [before, last] = ['', ''];
  chain.db.beforeCommit(() => {
    // This transaction is not on the disk yet, the one before it is.
    if (last !== before) {
      const copy = join(scratch(), 'copy');
      cpSync(dir, copy, { recursive: true, filter: (path) => !path.endsWith('-shm') });
      copies.push(copy);
    }
    before = last;
    last = stateOf(chain);
  });
  return copies;
}

/** A model whose replies carry marks, so that the project shows which of its calls were recorded. */
function marked(choose: (body: string, mark: string) => Reply) {
  const asked = new Map<string, string>();
  let number = 0;
  const provider = model((body) => {
    const mark = `mark-${number++}-`;
    asked.set(mark, body);
    return choose(body, mark);
  });
  return { provider, asked };
}

function recorded(chain: WriteChain): string {
  const said = chain.db.all<{ id: never }>('SELECT id FROM commits').map(({ id }) => entries(chain, { id, stop: id }));
  return JSON.stringify([chain.db.all('SELECT content, toolCalls FROM card'), said]);
}

/** Tells a story once, then ends it from each of its states, as the next process does after a kill. Returns the number of states. */
async function killedAnywhere(
  begin: (chain: WriteChain) => void,
  policy: RunPolicy,
  choose: (body: string, mark: string) => Reply,
  check: (chain: WriteChain) => void,
) {
  const project = emptyProject();
  begin(project.chain);
  const { provider, asked } = marked(choose);
  const copies = copyEachState(project);
  await work(project, provider, policy);
  check(project.chain);
  for (const dir of copies) {
    const copy = openProject(dir, heldClock(project.chain.clock() + 60_000));
    const text = recorded(copy.chain);
    const answered = [...asked].flatMap(([mark, body]) => (text.includes(mark) ? [body] : []));
    const before = asked.size;
    await work(copy, provider, policy);
    const repeated = [...asked.values()].slice(before).filter((body) => answered.includes(body));
    expect(repeated).toEqual([]);
    check(copy.chain);
    copy.close();
  }
  return copies.length;
}

test('[U2, U4] a turn that is killed at any moment repeats no recorded call and no delegation', { tags: 'long' }, async () => {
  const task = (instruction: string) => ({ target_strategy: 'new', target_ref: 'Critic', instruction });
  const states = await killedAnywhere(
    (chain) => {
      for (const name of ['Writer', 'Critic'])
        putProfile(chain, name, { content: { kind: 'json', data: { name, system_prompt_template: `You are the ${name}.` } } });
      launchPrincipal(chain, { profileName: 'Writer', instruction: 'Write the report.' });
    },
    { rules: ['Writer', 'Critic'].map((agent) => ({ for: { agent }, performer })) },
    (body, mark) => {
      if (body.includes('You are the Critic.')) return calls([`r${mark}`, 'submit_result', { result: `Fine. ${mark}` }]);
      if (body.includes('tool_result')) return says(`All reviewed. ${mark}`);
      return calls(
        [`a${mark}`, 'delegate_async', task('Tell the others.')],
        [`c${mark}`, 'fork_join', { tasks: [task('Review A.')] }],
        [`d${mark}`, 'fork_join', { tasks: [task('Review B.')] }],
      );
    },
    (chain) => {
      const { turns } = handoverMap(chain);
      expect(turns.map(({ status }) => status)).toEqual(Array(4).fill('success'));
      expect(turns.map(({ instruction }) => instruction).sort()).toEqual(['Review A.', 'Review B.', 'Tell the others.', 'Write the report.']);
    },
  );
  expect(states).toBeGreaterThan(15);
});

test('[U2, U4] a run that is killed at any moment repeats no recorded call and no message', { tags: 'long' }, async () => {
  const states = await killedAnywhere(
    (chain) => {
      for (const [entityId, type] of [
        ['sarah', 'human'],
        ['ada', 'agent'],
        ['ben', 'agent'],
      ] as const)
        addEntity(chain, { entityId, name: entityId, type });
      createSpace(chain, { spaceId: 'team', name: 'Team', members: ['sarah', 'ada', 'ben'] });
      post(chain, { spaceId: 'team', senderId: 'sarah', text: 'Hello.' });
    },
    {
      rules: [
        { for: { space: 'team' }, who: 'ada', performer },
        { for: { space: 'team' }, who: 'ben', performer },
      ],
    },
    (body, mark) => (body.includes('tool_result') ? says(`Done. ${mark}`) : calls([`m${mark}`, 'read_messages', {}])),
    (chain) => {
      expect(listRuns(chain, {}).map(({ status }) => status)).toEqual(['completed', 'completed']);
      expect(spaceMessages(chain, { spaceId: 'team' }).messages).toHaveLength(1);
    },
  );
  expect(states).toBeGreaterThan(5);
});
