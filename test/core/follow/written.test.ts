import { appendFileSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { EntryKey } from '../../../src/core/base/index.js';
import { checkpoint, fork, show, tips } from '../../../src/core/chain/index.js';
import { resumeIn } from '../../../src/core/export/index.js';
import { storeWritten } from '../../../src/core/import/index.js';
import { openCapture } from '../../../src/core/project/capture.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { emptyChain, scratch } from '../../support/project.js';

const realTime = (): number => performance.timeOrigin + performance.now();

/** A fork whose session file was written for Claude Code, as before a restart. */
function written() {
  const chain = emptyChain(realTime);
  const root = scratch();
  const shared = { type: 'delta', format: 'claude-code-v1', template: 'claude-code', checkpoint: 'turn_boundary' } as const;
  const first = checkpoint(chain, { ...shared, parent: null, text: prompt('u1', 'fix it') + answer('a1', 'fixed', { parent: 'u1' }) });
  const second = checkpoint(chain, {
    ...shared,
    parent: first.id,
    text: prompt('u2', 'now test it', { parent: 'a1' }) + answer('a2', 'tested', { parent: 'u2' }),
  });
  const edits = [
    { op: 'replace' as const, key: 'u2.0' as EntryKey, entry: { role: 'user' as const, kind: 'text' as const, text: 'test all of it' } },
  ];
  const made = fork(chain, { id: second.id, at: 'u2.0' as EntryKey, edits });
  const resumed = resumeIn(chain, [{ agent: 'claude-code', root }], { id: made.id, agent: 'claude-code', cwd: root });
  storeWritten(chain, { ...resumed, id: made.id, format: 'claude-code-v1' });
  return { chain, made, resumed };
}

/** Writes what the agent would: the prompt of the fork and its answer, after the last record of the file. */
function answerIn({ path, sessionId }: { readonly path: string; readonly sessionId: string }): void {
  const records = readFileSync(path, 'utf8').trim().split('\n');
  const last = records.map((line) => (JSON.parse(line) as { uuid?: string }).uuid).findLast((uuid) => uuid !== undefined);
  const at = new Date().toISOString();
  const lines = prompt('p9', 'test all of it', { parent: last ?? null, at }) + answer('q9', 'tested all', { parent: 'p9', at });
  appendFileSync(
    path,
    lines.replaceAll('"sessionId":"s1"', `"sessionId":"${sessionId}"`).replace('"model":"m"', '"model":"m","stop_reason":"end_turn"'),
  );
}

test('[L1] a session that was written for an agent is followed again after a restart', async () => {
  const { chain, made, resumed } = written();
  // The agent answers while nothing follows its file.
  answerIn(resumed);
  const capture = openCapture(chain);
  onTestFinished(() => capture.close());
  await capture.followAgain(undefined);
  // The answer is a child of the fork, and so part of its row in the chain.
  const answers = (): readonly (string | null)[] => tips(chain, {}).map(({ id }) => show(chain, id).parent);
  await vi.waitFor(() => expect(answers()).toContain(made.id), { timeout: 60_000, interval: 20 });
});

test('[L1] a written session that did not change for a week is not followed again', async () => {
  const { chain, resumed } = written();
  const old = realTime() / 1_000 - 8 * 86_400;
  utimesSync(resumed.path, old, old);
  const capture = openCapture(chain);
  onTestFinished(() => capture.close());
  await capture.followAgain(undefined);
  expect(capture.status().places).toEqual([]);
  expect(capture.files()).toEqual([]);
});

test('[W36] a fork of the first prompt runs it in a new session, whose answer joins the fork', async () => {
  const chain = emptyChain(realTime);
  const root = scratch();
  const first = checkpoint(chain, {
    type: 'delta',
    format: 'claude-code-v1',
    template: 'claude-code',
    checkpoint: 'turn_boundary',
    parent: null,
    text: prompt('u1', 'fix it') + answer('a1', 'fixed', { parent: 'u1' }),
  });
  const edits = [
    { op: 'replace' as const, key: 'u1.0' as EntryKey, entry: { role: 'user' as const, kind: 'text' as const, text: 'test all of it' } },
  ];
  const made = fork(chain, { id: first.id, at: 'u1.0' as EntryKey, edits });
  const resumed = resumeIn(chain, [{ agent: 'claude-code', root }], { id: made.id, agent: 'claude-code', cwd: root, mayStart: true });
  expect(resumed.commands).toEqual([['claude', '--session-id', resumed.sessionId, 'test all of it']]);
  expect(existsSync(resumed.path)).toBe(false);
  storeWritten(chain, { ...resumed, id: made.id, format: 'claude-code-v1' });
  const capture = openCapture(chain);
  onTestFinished(() => capture.close());
  await capture.addWritten(resumed.path, undefined);
  mkdirSync(dirname(resumed.path), { recursive: true });
  const at = new Date().toISOString();
  const lines = prompt('p9', 'test all of it', { at }) + answer('q9', 'tested all', { parent: 'p9', at });
  writeFileSync(
    resumed.path,
    lines.replaceAll('"sessionId":"s1"', `"sessionId":"${resumed.sessionId}"`).replace('"model":"m"', '"model":"m","stop_reason":"end_turn"'),
  );
  const answers = (): readonly (string | null)[] => tips(chain, {}).map(({ id }) => show(chain, id).parent);
  await vi.waitFor(() => expect(answers()).toContain(made.id), { timeout: 60_000, interval: 20 });
});
