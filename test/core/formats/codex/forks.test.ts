// Rollouts that begin as copies of others, as Codex writes them: the copied lines have new times, and the replies have no ids.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contextEntries, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { listSessions } from '../../../../src/core/sessions/index.js';
import { usageCalls, usageSessions } from '../../../support/counted.js';
import { importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';

const idOf = (no: number): string => `ba9bfd84-63ba-450f-a125-b6a303bb2a0${no}`;
const nameOf = (no: number): string => `rollout-2026-10-03T09-00-00-${idOf(no)}.jsonl`;
const at = (second: number): string => new Date(Date.parse('2026-10-03T09:00:00.000Z') + second * 1_000).toISOString();
const line = (second: number, type: string, payload: object): object => ({ timestamp: at(second), type, payload });
const message = (role: string, text: string): object => ({ type: 'message', role, content: [{ type: 'text', text }] });

/** The lines of a turn. Each turn uses a hundred times its number of tokens more than the one before; `sum` is what the agent counted in all. */
const turn = (no: number, sum: number, second: number): object[] => [
  line(second, 'event_msg', { type: 'task_started', turn_id: `turn-${no}`, model_context_window: 272_000 }),
  line(second, 'response_item', message('user', `question ${no}`)),
  line(second, 'turn_context', { turn_id: `turn-${no}`, model: 'gpt-5.5', cwd: '/w/app' }),
  line(second, 'response_item', { type: 'reasoning', summary: [] }),
  line(second, 'response_item', message('assistant', `answer ${no}`)),
  line(second, 'event_msg', {
    type: 'token_count',
    info: { total_token_usage: { input_tokens: sum, output_tokens: no }, last_token_usage: { input_tokens: no * 100, output_tokens: no } },
  }),
];
/** A rollout of turns, the first of which are copied. */
function rollout(no: number, turns: readonly number[], from?: { readonly no: number; readonly copied: number }): object[] {
  const begins = no * 1_000;
  const meta = { id: idOf(no), timestamp: at(begins), cwd: '/w/app', ...(from && { forked_from_id: idOf(from.no) }) };
  const lines = turns.flatMap((one, place) => {
    const sum = turns.slice(0, place + 1).reduce((all, each) => all + each * 100, 0);
    return turn(one, sum, begins + (place < (from?.copied ?? 0) ? 0 : 10 + place));
  });
  return [line(begins, 'session_meta', meta), ...lines];
}
const first = rollout(1, [1, 2, 3]);
const fork = rollout(2, [1, 2, 4], { no: 1, copied: 2 });
const forkOfFork = rollout(3, [1, 2, 4, 5], { no: 2, copied: 3 });

function put(chain: WriteChain, folder: string, no: number, lines: readonly object[]): void {
  mkdirSync(join(folder, `${no}`), { recursive: true });
  const path = join(folder, `${no}`, nameOf(no));
  writeFileSync(path, lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
  importInto(chain, path);
}

function valuesOf(chain: WriteChain) {
  const { tokens } = usageSessions(chain, { groupBy: null }).totals;
  const prompts = tips(chain, {}).map(({ id }) =>
    contextEntries(chain, { id, stop: 'root' }).flatMap(({ entry }) => (entry.role === 'user' ? (entry.text ?? '').slice(-1) : [])),
  );
  return {
    calls: usageCalls(chain, {}).total,
    input: tokens.input,
    prompts: prompts.map((each) => each.join('')).sort(),
    turns: listSessions(chain, {})
      .sessions.map(({ turns }) => turns)
      .sort(),
  };
}

describe('forks of Codex', () => {
  const right = { calls: 5, input: 1_500, prompts: ['123', '1245'], turns: [3, 3, 4] };

  test.each(['123', '132', '213', '231', '312', '321'])('[N21] a fork of a fork, in the order %s: nothing twice, nothing lost', (order) => {
    const [chain, folder] = [emptyChain(), scratch()];
    for (const no of [...order].map(Number)) put(chain, folder, no, [first, fork, forkOfFork][no - 1] as object[]);
    expect(valuesOf(chain)).toEqual(right);
  });

  test.each([1, 2, 4, 6, 7, 9])('[N21] a parent that lacks its last %i lines, which its fork has', (lines) => {
    const [chain, folder] = [emptyChain(), scratch()];
    put(chain, folder, 1, first.slice(0, -6 - lines));
    put(chain, folder, 2, fork);
    put(chain, folder, 1, first);
    expect(valuesOf(chain)).toEqual({ calls: 4, input: 1_000, prompts: ['123', '124'], turns: [3, 3] });
  });

  test.each([1, 5, 6, 7])('[N21] a fork that is read without its last %i lines, then whole', (lines) => {
    const [chain, folder] = [emptyChain(), scratch()];
    put(chain, folder, 1, first);
    put(chain, folder, 2, fork.slice(0, -lines));
    put(chain, folder, 2, fork);
    expect(valuesOf(chain)).toEqual({ calls: 4, input: 1_000, prompts: ['123', '124'], turns: [3, 3] });
  });
});
