import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { listCards, listProfiles, profileNamed } from '../../../src/core/cards/index.js';
import { entries, graph, listTemplates } from '../../../src/core/chain/index.js';
import { getExperiment, listExperiments } from '../../../src/core/experiments/index.js';
import { handoverMap } from '../../../src/core/handover/index.js';
import { getRequest, listRequests } from '../../../src/core/requests/index.js';
import { writeSampleStory } from '../../../src/core/router/sample.js';
import { listTickets, thread } from '../../../src/core/tickets/index.js';
import { goalsOf, listRuns, listSpaces, memoriesOf, plansOf, spaceMessages } from '../../../src/core/timeline/index.js';
import { reproduceTurn, turnOf } from '../../../src/core/turns/index.js';
import { usageCalls, usageFillers } from '../../../src/core/usage/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';
import { root } from '../../support/source.js';

test('[W38] the sample fills every view with one story, once', { tags: 'long' }, async () => {
  const chain = emptyChain(Date.now);
  importInto(chain, join(root, 'resources', 'sample'));
  await writeSampleStory(chain);
  const rows = graph(chain, { offset: 0, limit: 500 }).rows;
  const commits = rows.length;

  // Chain: branches, a compaction, a subagent, a fork that is titled by its change.
  expect(rows.some((row) => row.commit.type === 'compaction')).toBe(true);
  expect(rows.some((row) => row.startedBy !== undefined)).toBe(true);
  expect(rows.some((row) => row.children > 1)).toBe(true);
  expect(rows.find((row) => row.forked && row.commit.summary?.startsWith('Edited: Keep the date'))).toBeDefined();

  // Agents: a handover with boxes, a space with a waiting run.
  const map = handoverMap(chain);
  expect(map.turns.map((turn) => turn.status).toSorted()).toEqual(['running', 'success']);
  expect(listProfiles(chain).map(({ name }) => name)).toEqual(['Lead', 'Reader']);
  expect(profileNamed(chain, 'Reader')?.card?.content).toMatchObject({ data: { system_prompt_template: expect.stringContaining('You read code') } });
  expect(listTemplates(chain).map(({ name, version }) => `${name}@${version}`)).toContain('reviewer@2');
  expect(listCards(chain, { type: 'handover.config', limit: 5, offset: 0 }).cards).toHaveLength(1);
  const [space] = listSpaces(chain, undefined);
  expect(spaceMessages(chain, { spaceId: space?.spaceId as string }).messages).toHaveLength(2);
  expect(listRuns(chain, {}).map((run) => run.status)).toEqual(['waiting_reply']);
  expect([goalsOf(chain, 'larder-coder').length, memoriesOf(chain, 'larder-coder').length, plansOf(chain, 'larder-writer').length]).toEqual([
    2, 1, 1,
  ]);

  // Reviews: a finding with a discussion. Experiments: results with verdicts.
  const tickets = listTickets(chain, {});
  const finding = tickets.find(({ type }) => type === 'review_finding');
  expect(tickets.map(({ status }) => status)).toContain('review');
  expect(thread(chain, finding?.ticketId as string).messages.length).toBeGreaterThan(0);
  const [experiment] = listExperiments(chain);
  expect(experiment).toMatchObject({ cases: 2, results: 2 });
  const outcomes = getExperiment(chain, experiment?.experimentId as string).results.map(({ outcome }) => outcome);
  expect(outcomes.toSorted()).toEqual(['fail', 'pass']);

  await writeSampleStory(chain);
  expect(graph(chain, { offset: 0, limit: 500 }).rows).toHaveLength(commits);
});

test('[R6] the sample has recorded calls with digests, and no turn with output has no call', { tags: 'long' }, async () => {
  const chain = emptyChain(Date.now);
  importInto(chain, join(root, 'resources', 'sample'));
  await writeSampleStory(chain);
  const reader = handoverMap(chain).turns.find(({ status }) => status === 'success')?.agentTurnId as string;
  expect(reproduceTurn(chain, reader)).toMatchObject({ proof: 'digest', identical: true, calls: 2, differences: [] });
  // The profile of the reader permits the tool that it calls.
  const { turnId } = turnOf(chain, reader);
  expect(entries(chain, { id: turnId }).entries.filter(({ kind, isError }) => kind === 'tool_result' && isError)).toEqual([]);
  const calls = listRequests(chain, { turnId: turnOf(chain, reader).turnId });
  for (const { requestId } of calls) {
    const { digest, recordedDigest } = getRequest(chain, requestId);
    expect([digest, recordedDigest]).toEqual([recordedDigest, expect.stringMatching(/^[0-9a-f]{64}$/)]);
  }
  for (const { commit } of graph(chain, { offset: 0, limit: 500 }).rows) {
    if (commit.type !== 'delta') continue;
    const isReplied = entries(chain, { id: commit.id, stop: commit.id }).entries.some(({ role }) => role === 'assistant');
    const { identical, calls: known } = reproduceTurn(chain, commit.id);
    expect([commit.id, identical !== false, !isReplied || known > 0]).toEqual([commit.id, true, true]);
  }
});

test('[N9] a file that the agent attached after a compaction is named by its path', async () => {
  const chain = emptyChain(Date.now);
  importInto(chain, join(root, 'resources', 'sample'));
  const tip = graph(chain, { offset: 0, limit: 500 }).rows.find(({ commit }) => commit.summary?.startsWith('Call it 1.2.1'))?.commit.id as ContextId;
  const attached = usageFillers(chain, { id: tip }).filter(({ tool }) => tool === 'file');
  expect(attached.every(({ path }) => path?.startsWith('/home/sam/larder/'))).toBe(true);
  expect(new Set(attached.map(({ path }) => path)).size).toBe(4);
});

test('[W38] the calls of the sample have counts, hits and misses', () => {
  const chain = emptyChain(Date.now);
  importInto(chain, join(root, 'resources', 'sample'));
  const { calls } = usageCalls(chain, {});
  expect(calls.filter(({ cache }) => cache.hit).length).toBeGreaterThan(20);
  expect(calls.filter(({ cache, tokens }) => !cache.hit && (tokens.cacheWrite ?? 0) > 13_000).length).toBeGreaterThan(0);
});
