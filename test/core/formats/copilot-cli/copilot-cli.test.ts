import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey, JsonObject } from '../../../../src/core/base/index.js';
import { entries, fork, materializedBytes, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { exportContext, resumeIn } from '../../../../src/core/export/index.js';
import { copilotCli } from '../../../../src/core/formats/copilot-cli/index.js';
import { detect, foundSessions, foundSources, listSources } from '../../../../src/core/import/index.js';
import { listRequests } from '../../../../src/core/requests/index.js';
import { listSessions } from '../../../../src/core/sessions/index.js';
import { usageCalls, usageSessions } from '../../../../src/core/usage/index.js';
import { bytesOfFile, importInto, said } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { root } from '../../../support/source.js';
import { survivesAnyBytes } from '../each-byte.js';
import { linesOf, session } from './lines.js';

const fixture = (name: string): string => join(root, 'test/fixtures/copilot-cli', name);

/** A file of events in a session's folder. */
function fileOf(events = session, folder = scratch()): string {
  const path = join(folder, 'session-state/s-1/events.jsonl');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, linesOf(events));
  return path;
}
const tipOf = (chain: WriteChain, text: string): ContextId =>
  tips(chain, {}).find(({ id }) => said(chain, id).join('\n').includes(text))?.id as ContextId;
const hidden = (chain: WriteChain, id: ContextId) => entries(chain, { id, hidden: true, stop: 'root' }).entries;

describe('a session', () => {
  const before = session.slice(0, 23);

  test('[F35] is a chain, with each subagent in a chain that its call started', () => {
    const chain = emptyChain();
    const path = fileOf(before);
    const result = importInto(chain, path);
    expect({ skipped: result.skipped, notes: result.notes }).toEqual({ skipped: [], notes: [] });
    expect(said(chain, tipOf(chain, 'Overload'))).toEqual([
      'user text  <now/>',
      'system text  You help.',
      'assistant thinking  First look.',
      'assistant text  Let me look.',
      'assistant tool_call view ',
      'assistant tool_call view ',
      'tool tool_result view Path does not exist',
      'tool tool_result view one',
      'assistant tool_call task ',
      'tool tool_result task It is fine.',
      'assistant text  Done.',
      'user text  Overload',
    ]);
    const sub = tips(chain, {}).find(({ id }) => said(chain, id).length === 2);
    expect(said(chain, sub?.id as ContextId)).toEqual(['user text  Check', 'assistant text  It is fine.']);
    expect(chain.db.all('SELECT toolCallId FROM started')).toEqual([{ toolCallId: 'c-3' }]);
    expect(bytesOfFile(chain, path)).toEqual(readFileSync(path));
    expect(listSources(chain)[0]).toMatchObject({ format: 'copilot-cli-v1', sessionId: 's-1', cwd: '/work/demo', title: 'Fix it' });
  });

  test('[N24] what the agent counted for each model when it ended makes calls', () => {
    const chain = emptyChain();
    const counted = (inputTokens: number, outputTokens: number, cacheReadTokens = 0) => ({ usage: { inputTokens, outputTokens, cacheReadTokens } });
    const sums = (modelMetrics: object) =>
      session.map((one) => (one.type === 'session.shutdown' ? { ...one, data: { modelMetrics } } : one)) as typeof session;
    importInto(chain, fileOf(sums({ m: counted(500, 60, 140), small: counted(70, 7) })));
    const { tokens } = usageSessions(chain, { groupBy: null }).totals;
    // The calls in the file read 350 tokens, of which 140 from the cache. The rest stands in no event.
    expect(tokens).toMatchObject({ input: 500 - 140 + 70, cacheRead: 140 });
    expect(usageCalls(chain, {}).calls.flatMap(({ beside, model, tokens: { input } }) => (beside ? [[model, input]] : []))).toEqual([
      ['m', 150],
      ['small', 70],
    ]);
    // Sums in the form of newer versions, that are smaller than the calls, are a drift and remove nothing.
    const less = emptyChain();
    const newer = session.map((one) =>
      one.type === 'session.shutdown' ? { ...one, data: { accountingSnapshot: { modelMetrics: { m: counted(100, 10) } } } } : one,
    ) as typeof session;
    importInto(less, fileOf(newer));
    expect(usageCalls(less, {}).calls.some(({ beside }) => beside)).toBe(false);
    expect(listSessions(less, {}).sessions[0]?.drift).toMatchObject({ recorded: 110, unit: 'tokens' });
  });

  test('[F36] usage is that of the provider, without what the cache held, once a call', () => {
    const chain = emptyChain();
    importInto(chain, fileOf(before));
    const calls = listRequests(chain, { id: tipOf(chain, 'Overload'), stop: 'root' });
    expect(calls.map(({ tokens }) => tokens)).toEqual([
      { input: 60, output: 10, cacheRead: 40, cacheWrite: 0 },
      { input: 100, output: 10, cacheRead: 100, cacheWrite: 0 },
      { input: null, output: null, cacheRead: null, cacheWrite: null },
    ]);
  });

  test('[N24] a call that wrote two messages counts once, in whole and in parts', () => {
    const [answer, ...after] = session.slice(5);
    const data = answer?.data as JsonObject;
    const halves = [
      { ...answer, data: { ...data, toolRequests: [], outputTokens: 10 } },
      { ...answer, id: 'second', data: { ...data, content: '', outputTokens: 10 } },
    ] as typeof session;
    const split = [...session.slice(0, 5), ...halves, ...after];
    const totals = (...cuts: readonly number[]) => {
      const [chain, folder] = [emptyChain(), scratch()];
      for (const cut of [...cuts, split.length]) importInto(chain, fileOf(split.slice(0, cut), folder));
      return usageSessions(chain, { groupBy: null }).totals;
    };
    const once = emptyChain();
    importInto(once, fileOf());
    const expected = usageSessions(once, { groupBy: null }).totals;
    for (const cuts of [[], [6], [5, 6, 7]]) expect(totals(...cuts)).toEqual(expected);
  });

  test('errors are hidden entries, and failed results keep their mark', () => {
    const chain = emptyChain();
    importInto(chain, fileOf(before));
    const all = hidden(chain, tipOf(chain, 'Overload'));
    expect(all.filter(({ isError }) => isError).map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'tool_result Path does not exist',
      'text 400 stand-in',
    ]);
  });

  test('[F5] a compaction is its summary with the system prompt, and unknown events are kept', () => {
    const chain = emptyChain();
    importInto(chain, fileOf());
    const tip = tipOf(chain, 'Go on');
    expect(said(chain, tip)).toEqual(['user summary  What happened so far.', 'system text  You help.', 'user text  Go on', 'assistant text  OK']);
    expect(hidden(chain, tip).some(({ toolName }) => toolName === 'new.kind_of_event')).toBe(true);
  });

  test('[F8] a rewind cuts the file, and the project keeps the branch that was taken back', () => {
    const chain = emptyChain();
    const folder = scratch();
    importInto(chain, fileOf(before, folder));
    const other = [
      ...session.slice(0, 20),
      { ...(session[21] as object), id: 'other', data: { content: 'Another way' } },
      { type: 'assistant.message', id: 'other-2', parentId: 'other', data: { messageId: 'x', content: 'Yes', toolRequests: [] } },
    ] as typeof session;
    const result = importInto(chain, fileOf(other, folder));
    expect(result.commits).toBe(1);
    expect(said(chain, tipOf(chain, 'Another way')).slice(-3)).toEqual(['assistant text  Done.', 'user text  Another way', 'assistant text  Yes']);
    expect(tipOf(chain, 'Overload')).toBeDefined();
  });

  test('[F12] has the same keys however it grows, and the root walk is the file', () => {
    const chain = emptyChain();
    const alone = session.slice(0, 11);
    const folder = scratch();
    for (const end of [3, 7, alone.length]) importInto(chain, fileOf(alone.slice(0, end), folder));
    const direct = emptyChain();
    const path = fileOf(alone);
    importInto(direct, path);
    const keys = (one: WriteChain): EntryKey[] => hidden(one, tips(one, {})[0]?.id as ContextId).map(({ key }) => key);
    expect(keys(chain)).toEqual(keys(direct));
    expect(Buffer.from(materializedBytes(direct, { id: tips(direct, {})[0]?.id as ContextId, stop: 'root' }).bytes)).toEqual(readFileSync(path));
  });
});

test.each(['agent-sessions-small.jsonl', 'git-ai-session_events.jsonl'])('[F21] the sample %s comes back byte for byte', (name) => {
  const chain = emptyChain();
  const result = importInto(chain, fixture(name));
  expect(result.sessions).toBe(1);
  expect(bytesOfFile(chain, fixture(name))).toEqual(readFileSync(fixture(name)));
  expect(said(chain, result.tips[0] as ContextId).some((line) => line.startsWith('assistant tool_call'))).toBe(true);
});

test('[F13] a cut inside an answer keeps the entries so far under their keys', () => {
  const chain = emptyChain();
  importInto(chain, fileOf(session.slice(0, 20)));
  const id = tips(chain, {}).find((tip) => said(chain, tip.id).includes('assistant text  Done.'))?.id as ContextId;
  const visible = entries(chain, { id }).entries;
  for (const [at, { key }] of visible.entries()) {
    const cut = fork(chain, { id, at: key });
    expect(entries(chain, { id: cut.id }).entries.map((entry) => entry.key)).toEqual(visible.slice(0, at + 1).map((entry) => entry.key));
  }
});

test('[F37] an export is a session of its own, and its import has the same keys', () => {
  const home = scratch();
  mkdirSync(join(home, 'session-state'), { recursive: true });
  const chain = emptyChain();
  importInto(chain, fileOf(session.slice(0, 20)));
  const id = tipOf(chain, 'Done.');
  const place = { agent: 'copilot' as const, root: home };
  const back = resumeIn(chain, [place], { id, cwd: '/work/demo' });
  expect(back.command).toBe(`cd /work/demo && copilot --resume=${back.sessionId}`);
  expect(foundSources([place])).toMatchObject([{ agent: 'copilot', sessions: 1 }]);
  expect([...foundSessions(place, () => false)]).toMatchObject([{ path: back.path, sessionId: back.sessionId, cwd: '/work/demo', title: 'Fix it' }]);
  const again = emptyChain();
  const { tips: all } = importInto(again, back.path);
  const keys = (one: WriteChain, at: ContextId): EntryKey[] => entries(one, { id: at }).entries.map(({ key }) => key);
  expect(keys(again, all[0] as ContextId)).toEqual(keys(chain, id));
});

test('[F22] events are recognized, and an export of another agent is one too', () => {
  expect(detect([fileOf()])).toMatchObject([{ format: 'copilot-cli-v1', confidence: 1 }]);
  const chain = emptyChain();
  importInto(chain, join(root, 'test/fixtures/pi/tour.jsonl'));
  const path = join(scratch(), 'events.jsonl');
  exportContext(chain, { id: tips(chain, {})[0]?.id as ContextId, format: 'copilot-cli-v1', path });
  expect(detect([path])).toMatchObject([{ format: 'copilot-cli-v1', confidence: 1 }]);
});

test('[F10] any bytes anywhere do no harm', () => survivesAnyBytes(copilotCli, Buffer.from(linesOf(session))));
