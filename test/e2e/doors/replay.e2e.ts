import { readFileSync } from 'node:fs';
import type { Experiment, ExperimentResult, Following, WhatIfResult } from '../../../src/core/contract/index.js';
import { expect, test } from '../../support/e2e.js';
import type { Machine, Ran } from '../../support/machine.js';
import { messageEvents, modelServer, stream } from '../../support/model-server.js';

const json = <T>(ran: Ran): T => {
  expect(ran.err).toBe('');
  expect(ran.code).toBe(0);
  return JSON.parse(ran.out) as T;
};

/** A project with the sample's histories, and the turn that asks for the fix. */
async function sample(machine: Machine): Promise<string> {
  json(await machine.ask('init', machine.path('work', 'larder.stemma'), '--json'));
  expect((await machine.ask('import', '--json', machine.giveHistory())).code).toBe(0);
  const { rows } = json<{ rows: { commit: { id: string; summary?: string } }[] }>(await machine.ask('log', '--json'));
  return rows.find(({ commit }) => commit.summary?.startsWith('Fix it, please. Test first.'))?.commit.id ?? '';
}

test('runs a turn again, continues with the next turns and compares the results', { tag: '@long' }, async ({ machine }) => {
  const server = await modelServer((response) => stream(response, messageEvents({ text: 'Nothing needs to be fixed.' })));
  Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: server.url });
  const turn = await sample(machine);
  const asked = await machine.ask('rerun', turn, '--provider', 'anthropic', '--request', '{"system":["Be short."]}');
  expect(asked.out).toContain('Nothing needs to be fixed.');
  const branch = /branch (ctx-[0-9a-f]+)/.exec(asked.out)?.[1] ?? '';
  expect(server.asked.at(-1)?.body).toMatchObject({ system: [{ text: 'Be short.' }] });

  const following = json<Following>(await machine.ask('whatif', branch, '--dry-run', '--json'));
  expect(following.turns.length).toBeGreaterThan(1);
  const first = await machine.ask('whatif', branch, '--provider', 'anthropic');
  expect(first.out).toContain('different calls: call 1');
  expect(first.err).toContain('diverged at turn 1');
  const tip = /branch (ctx-[0-9a-f]+)/.exec(first.out)?.[1] ?? '';
  const rest = json<WhatIfResult>(await machine.ask('whatif', tip, '--provider', 'recorded', '--json'));
  expect(rest).toMatchObject({ left: 0, stopped: null });
  expect(rest.commits).toHaveLength(following.turns.length - 1);

  const file = machine.path('work', 'comparison.md');
  expect((await machine.ask('diff', turn, branch, rest.tip, '-o', file)).out).toContain(file);
  expect(readFileSync(file, 'utf8')).toContain('# Comparison of 3 contexts');
  expect((await machine.ask('diff', turn, branch, '--markdown')).out).toContain('Nothing needs to be fixed.');
  server.close();
});

test('saves, runs, judges and prints an experiment', { tag: '@long' }, async ({ machine }) => {
  const turnId = await sample(machine);
  const checks = [{ kind: 'calls', toolName: 'Edit' }];
  const cases = [{ title: 'as it was', turnId, provider: 'recorded' }];
  const saved = await machine.runWith(JSON.stringify({ title: 'Does it edit?', checks, cases }), 'experiment', 'save', '--input', '-', '--json');
  const { experimentId } = json<Experiment>(saved);
  const { results } = json<{ results: ExperimentResult[] }>(await machine.ask('experiment', 'run', experimentId, '--json'));
  expect(results).toMatchObject([{ outcome: 'pass', judgedBy: 'checks' }]);
  const judged = await machine.ask('experiment', 'judge', results[0]?.resultId ?? '', 'fail', '--note', 'not tested first');
  expect(judged.out).toContain('fail');
  expect((await machine.ask('experiment', 'list')).out).toContain('1 fail');
  expect((await machine.ask('experiment', 'show', experimentId, '-f', 'csv')).out).toContain('not tested first');
  const refused = await machine.ask('experiment', 'judge', results[0]?.resultId ?? '', 'maybe');
  expect(refused.code).toBe(1);
});
