import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExtData, encode } from '@msgpack/msgpack';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey } from '../../../../src/core/base/index.js';
import { contextEntries, entries, fork, history, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { exportContext } from '../../../../src/core/export/index.js';
import { requireFormat } from '../../../../src/core/formats/index.js';
import { columnValue } from '../../../../src/core/formats/langgraph/parse-values.js';
import { detect, listSources } from '../../../../src/core/import/index.js';
import { getRequest, listRequests } from '../../../../src/core/requests/index.js';
import { bytesOfSource, importInto } from '../../../support/imports.js';
import { agentOn, Command, HumanMessage, nestedOn, RemoveMessage, saverAt, thread, told } from '../../../support/langgraph.js';
import { emptyChain, scratch } from '../../../support/project.js';

const said = (chain: WriteChain, id: ContextId, stop?: 'root'): string[] =>
  entries(chain, { id, ...(stop && { stop }) })
    .entries.filter(({ marks }) => !marks?.includes('hidden'))
    .map(({ role, kind, text, toolName }) => `${role} ${kind} ${toolName ?? ''} ${text ?? ''}`);

const toolTurn = (prompt: string): string[] => [
  `user text  ${prompt}`,
  'assistant text  Let me look.',
  'assistant tool_call read ',
  'tool tool_result read export const a = 1;',
  'assistant text  About export const a = 1;',
];
const turn = (prompt: string): string[] => [`user text  ${prompt}`, `assistant text  About ${prompt}`];

/** A database that LangGraph wrote: two threads, one of them with a fork by checkpoint, an edit, and a question to a person. */
async function written(): Promise<string> {
  const path = join(scratch(), 'checkpoints.db');
  const saver = saverAt(path);
  const agent = agentOn(saver);
  await agent.invoke(told('use a tool'), thread('one'));
  await agent.invoke(told('go on'), thread('one'));
  const states = [];
  for await (const state of agent.getStateHistory(thread('one'))) states.push(state);
  const first = states.find(({ values, next }) => values.messages?.length === 4 && next.length === 0);
  await agent.invoke(told('another way'), first?.config);
  await agent.updateState(thread('one'), { messages: [new HumanMessage({ id: 'human-another way', content: 'a third way' })] });
  await agent.invoke(told('ask me'), thread('two'));
  await agent.invoke(new Command({ resume: 'yes' }), thread('two'));
  return path;
}

describe('threads of a checkpointer', () => {
  test('[F4] threads are sources, checkpoints with messages commits, forks branches', async () => {
    const path = await written();
    expect(detect([path])).toMatchObject([{ path, format: 'langgraph-v1', sessions: 2 }]);
    const chain = emptyChain();
    const result = importInto(chain, path);
    expect(result).toMatchObject({ sessions: 2, skipped: [] });
    expect(listSources(chain).map(({ sessionId, title }) => [sessionId, title])).toEqual([
      ['two', 'ask me'],
      ['one', 'use a tool'],
    ]);
    const lanes = tips(chain, {}).map(({ id }) => said(chain, id));
    expect(lanes.sort((a, b) => a.join().localeCompare(b.join()))).toEqual(
      [
        ['user text  ask me', 'assistant text  You said yes'],
        [...toolTurn('use a tool'), ...turn('go on')],
        [...toolTurn('use a tool'), ...turn('another way')],
        // After an edit of a message, the old answer still exists.
        [...toolTurn('use a tool'), 'user text  a third way', 'assistant text  About another way'],
      ].sort((a, b) => a.join().localeCompare(b.join())),
    );
    const main = tips(chain, {}).find(({ id }) => said(chain, id).includes('user text  go on')) as { id: ContextId };
    expect(history(chain, main.id).map(({ checkpoint, messageCount }) => [checkpoint, messageCount])).toEqual([
      ['turn_boundary', 1],
      ['tool_call', 1],
      ['turn_boundary', 1],
      ['tool_call', 1],
      ['tool_call', 1],
      ['tool_call', 1],
    ]);
    const notes = contextEntries(chain, { id: tips(chain, { sessionId: 'two' })[0]?.id as never }).map(({ entry }) => entry.text);
    expect(notes).toContain('You said yes');
    expect(importInto(chain, path)).toMatchObject({ commits: 0, entries: 0 });
  });

  test('[F1, F33] questions to a person are kept, and threads come back without the database', async () => {
    const chain = emptyChain();
    importInto(chain, await written());
    const sources = listSources(chain);
    const asked = sources.find(({ sessionId }) => sessionId === 'two');
    const lines = bytesOfSource(chain, asked?.sourceId ?? '')
      .toString()
      .trimEnd()
      .split('\n');
    expect(lines.map((line) => Object.keys(JSON.parse(line) as object)[0])).toEqual(expect.arrayContaining(['thread', 'checkpoint', 'write']));
    expect(lines.find((line) => line.includes('__interrupt__'))).toContain('May I?');
    const { entries: all } = requireFormat('langgraph-v1').parse(bytesOfSource(chain, asked?.sourceId ?? ''));
    expect(all.filter(({ toolName }) => toolName === 'interrupt').map(({ text }) => text)).toEqual(['{"question":"May I?"}']);
    expect(all.filter(({ toolName }) => toolName === 'resume').map(({ text }) => text)).toContain('yes');
  });

  test('[F3] a grown thread adds what is new', async () => {
    const path = join(scratch(), 'checkpoints.db');
    const saver = saverAt(path);
    const agent = agentOn(saver);
    const chain = emptyChain();
    for (const prompt of ['one', 'use a tool', 'three']) {
      await agent.invoke(told(prompt), thread('t'));
      expect(importInto(chain, path)).toMatchObject({ sessions: 1, skipped: [], commits: prompt === 'use a tool' ? 4 : 2 });
      expect(importInto(chain, path)).toMatchObject({ commits: 0 });
    }
    expect(tips(chain, {}).map(({ id }) => said(chain, id))).toEqual([[...turn('one'), ...toolTurn('use a tool'), ...turn('three')]]);
    expect(listSources(chain)).toHaveLength(1);
  });

  test('a graph inside a graph is a thread named after its node', async () => {
    const path = join(scratch(), 'checkpoints.db');
    const saver = saverAt(path);
    await nestedOn(saver).invoke(told('look around'), thread('t'));
    const chain = emptyChain();
    const result = importInto(chain, path);
    expect(result).toMatchObject({ sessions: 2, skipped: [], notes: [{ line: 0 }] });
    const inner = tips(chain, {}).find(({ template }) => template === 'langgraph/helper') as { id: ContextId };
    expect(said(chain, inner.id)).toEqual(turn('look around'));
    const outer = tips(chain, {}).find(({ template }) => template === 'langgraph') as { id: ContextId };
    expect(said(chain, outer.id)).toEqual(turn('look around'));
    const [, session] = listSources(chain)
      .map(({ sessionId }) => sessionId)
      .sort();
    expect(session).toMatch(/^t\/helper:/);
  });

  test('[C9] a graph that drops its first messages continues from a compaction', async () => {
    const path = join(scratch(), 'checkpoints.db');
    const agent = agentOn(saverAt(path));
    await agent.invoke(told('one'), thread('t'));
    await agent.invoke({ messages: [new RemoveMessage({ id: 'human-one' }), ...told('two').messages] }, thread('t'));
    const chain = emptyChain();
    const { tips: all } = importInto(chain, path);
    const id = all.at(-1) as ContextId;
    expect(said(chain, id)).toEqual(['assistant text  About one', ...turn('two')]);
    expect(history(chain, id).map(({ type }) => type)).toEqual(['delta', 'compaction', 'delta', 'delta']);
  });

  test('[R3] each answer is a call, rebuilt from the messages before it', async () => {
    const chain = emptyChain();
    importInto(chain, await written());
    const rows = listRequests(chain, { sessionId: 'one' });
    expect(rows.length).toBeGreaterThanOrEqual(4);
    expect(rows.every(({ source, proof }) => source === 'langgraph' && proof === 'rebuilt')).toBe(true);
    expect(rows[0]).toMatchObject({ model: 'stand-in-1', messageCount: 1, tokens: { input: 10, output: 2, cacheRead: null, cacheWrite: null } });
    for (const { requestId, messageCount } of rows) expect(getRequest(chain, requestId).body.messages).toHaveLength(messageCount);
  });
});

describe('exports for LangGraph', () => {
  test("[F14] LangGraph's own saver opens an export, and the graph continues it", async () => {
    const chain = emptyChain();
    importInto(chain, await written());
    const tip = tips(chain, {}).find(({ id }) => said(chain, id).includes('user text  another way')) as { id: ContextId };
    const path = join(scratch(), 'export.db');
    exportContext(chain, { id: tip.id, format: 'langgraph-v1', path });
    const { thread_id: id } = new Database(path, { readonly: true }).prepare('SELECT thread_id FROM checkpoints').get() as { thread_id: string };
    const agent = agentOn(saverAt(path));
    const state = await agent.getState(thread(id));
    expect(state.next).toEqual([]);
    expect(state.values.messages.map((message: { getType(): string; content: unknown }) => [message.getType(), message.content])).toEqual([
      ['human', 'use a tool'],
      ['ai', [{ type: 'text', text: 'Let me look.' }]],
      ['tool', 'export const a = 1;'],
      ['ai', 'About export const a = 1;'],
      ['human', 'another way'],
      ['ai', 'About another way'],
    ]);
    // The graph's own channel is exported too.
    expect(state.values.answers).toBe(2);
    const after = await agent.invoke(told('and now'), thread(id));
    expect(after.messages.slice(-2).map(({ content }: { content: unknown }) => content)).toEqual(['and now', 'About and now']);
    expect(after.answers).toBe(3);
    // What LangGraph appended is imported again.
    const back = importInto(emptyChain(), path);
    expect(back).toMatchObject({ sessions: 1, skipped: [] });
  });

  test("[F14] another agent's calls, results, images and thinking can be continued", async () => {
    const chain = emptyChain();
    const fixture = join(import.meta.dirname, '../../../fixtures/pi/tour.jsonl');
    const { tips: all } = importInto(chain, fixture);
    const path = join(scratch(), 'export.db');
    const { losses } = exportContext(chain, { id: all.at(-1) as ContextId, format: 'langgraph-v1', path, stop: 'root' });
    expect(losses.map(({ what }) => what)).not.toContain('thinking');
    const { thread_id: id } = new Database(path, { readonly: true }).prepare('SELECT thread_id FROM checkpoints').get() as { thread_id: string };
    const state = await agentOn(saverAt(path)).getState(thread(id));
    const wanted = contextEntries(chain, { id: all.at(-1) as ContextId, stop: 'root' }).map(({ entry }) => entry);
    const calls = state.values.messages.flatMap((message: { tool_calls?: { id: string }[] }) => message.tool_calls?.map((call) => call.id) ?? []);
    expect(calls).toEqual(wanted.filter(({ kind }) => kind === 'tool_call').map(({ toolCallId }) => toolCallId));
    expect(calls.length).toBeGreaterThan(0);
  });

  test('[C15] a fork inside of a message keeps its first parts with their keys', async () => {
    const chain = emptyChain();
    importInto(chain, await written());
    const tip = tips(chain, {}).find(({ id }) => said(chain, id).includes('user text  go on')) as { id: ContextId };
    const whole = contextEntries(chain, { id: tip.id });
    const at = whole.find(({ entry }) => entry.text === 'Let me look.')?.key as EntryKey;
    const cut = fork(chain, { id: tip.id, at });
    const kept = contextEntries(chain, { id: cut.id });
    expect(kept.map(({ key }) => key)).toEqual(whole.slice(0, 2).map(({ key }) => key));
    expect(said(chain, cut.id)).toEqual(toolTurn('use a tool').slice(0, 2));
  });
});

/** An object as Python's LangGraph packs it: an extension with module, class, fields and the way to create it again. */
const packed = (name: string, fields: object): ExtData =>
  new ExtData(5, encode([`langchain_core.messages.${name.toLowerCase().replace('message', '')}`, name, fields, 'model_validate_json']));

function pythonDatabase(states: readonly { id: string; parent: string | null; messages: readonly unknown[] }[]): string {
  const path = join(scratch(), 'checkpoints.sqlite');
  const db = new Database(path);
  db.exec(
    "CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL, parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))",
  );
  const insert = db.prepare('INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)');
  for (const { id, parent, messages } of states) {
    const checkpoint = { v: 4, id, ts: '2026-01-01T00:00:00+00:00', channel_values: { messages }, channel_versions: {}, versions_seen: {} };
    insert.run('t', '', id, parent, 'msgpack', Buffer.from(encode(checkpoint)), JSON.stringify({ source: 'loop', step: 1 }));
  }
  db.close();
  return path;
}

describe('what Python wrote', () => {
  test('[F10] messages in msgpack are read by fields, and no object is created or run', () => {
    const human = packed('HumanMessage', { content: 'hello', additional_kwargs: {}, type: 'human', id: 'h1' });
    const ai = packed('AIMessage', {
      content: [{ type: 'text', text: 'hi' }],
      type: 'ai',
      id: 'a1',
      tool_calls: [{ name: 'ls', args: { p: '.' }, id: 'c1' }],
    });
    const tool = packed('ToolMessage', { content: 'a.ts', type: 'tool', id: 't1', tool_call_id: 'c1', name: 'ls', status: 'error' });
    const path = pythonDatabase([
      { id: '1f000000-0000-6000-8000-000000000001', parent: null, messages: [human] },
      { id: '1f000000-0000-6000-8000-000000000002', parent: '1f000000-0000-6000-8000-000000000001', messages: [human, ai] },
      { id: '1f000000-0000-6000-8000-000000000003', parent: '1f000000-0000-6000-8000-000000000002', messages: [human, ai, tool] },
    ]);
    const chain = emptyChain();
    const { tips: all, skipped } = importInto(chain, path);
    expect(skipped).toEqual([]);
    expect(contextEntries(chain, { id: all.at(-1) as ContextId }).map(({ entry }) => [entry.kind, entry.text, entry.isError])).toEqual([
      ['text', 'hello', undefined],
      ['text', 'hi', undefined],
      ['tool_call', undefined, undefined],
      ['tool_result', 'a.ts', true],
    ]);
    expect(history(chain, all.at(-1) as ContextId)).toHaveLength(3);
  });
});

describe('what newer Python writes', () => {
  const said = (kind: 'Human' | 'AI', id: string, content: string): ExtData => packed(`${kind}Message`, { content, type: kind.toLowerCase(), id });
  const ext = (code: number, ...parts: readonly unknown[]): ExtData => new ExtData(code, encode(parts));
  const ids = [1, 2, 3, 4, 5].map((n) => `1f000000-0000-6000-8000-00000000000${n}`);

  /** Checkpoints of a channel that is stored as changes: the values, and the writes to `messages` at each. */
  function deltaDatabase(steps: readonly { readonly values: object; readonly writes: readonly unknown[] }[]): string {
    const path = pythonDatabase([]);
    const db = new Database(path);
    db.exec(
      'CREATE TABLE writes (thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, task_id TEXT, idx INTEGER, channel TEXT, type TEXT, value BLOB)',
    );
    for (const [n, { values, writes }] of steps.entries()) {
      const checkpoint = { v: 4, id: ids[n], ts: '2026-01-01T00:00:00+00:00', channel_values: values, channel_versions: { messages: `${n}` } };
      db.prepare("INSERT INTO checkpoints VALUES ('t', '', ?, ?, 'msgpack', ?, ?)").run(
        ids[n],
        ids[n - 1] ?? null,
        Buffer.from(encode(checkpoint)),
        JSON.stringify({ source: 'loop', step: n }),
      );
      for (const [idx, value] of writes.entries())
        db.prepare("INSERT INTO writes VALUES ('t', '', ?, 'task', ?, 'messages', 'msgpack', ?)").run(ids[n], idx, Buffer.from(encode(value)));
    }
    db.close();
    return path;
  }

  test('[F10] a channel known only by its writes gains, changes and loses messages', () => {
    const remove = packed('RemoveMessage', { content: '', type: 'remove', id: 'h1' });
    const path = deltaDatabase([
      { values: { __start__: 1 }, writes: [[said('Human', 'h1', 'hello')]] },
      { values: {}, writes: [said('AI', 'a1', 'hi')] },
      { values: { other: 1 }, writes: [[said('AI', 'a1', 'hi again'), said('Human', 'h2', 'and now?')]] },
      {
        values: { messages: ext(7, said('Human', 'h1', 'hello'), said('AI', 'a1', 'hi again'), said('Human', 'h2', 'and now?')) },
        writes: [[remove]],
      },
      { values: {}, writes: [] },
    ]);
    const chain = emptyChain();
    const { tips: all, skipped } = importInto(chain, path);
    expect(skipped).toEqual([]);
    const texts = (id: ContextId) => contextEntries(chain, { id }).map(({ entry }) => entry.text);
    const tip = all.at(-1) as ContextId;
    expect(texts(tip)).toEqual(['hi again', 'and now?']);
    const seen = new Set(tips(chain, {}).flatMap(({ id }) => history(chain, id).map((commit) => texts(commit.id).join(' | '))));
    for (const state of ['hello', 'hello | hi', 'hello | hi again | and now?']) expect([...seen]).toContain(state);
  });

  test('[F10] objects of every extension are read as class and fields', () => {
    const objects = {
      uuid: ext(0, 'uuid', 'UUID', 'ab'),
      path: ext(1, 'pathlib', 'PosixPath', ['/', 'tmp']),
      point: ext(2, 'app', 'Point', { x: 1 }),
      at: ext(3, 'datetime', 'datetime', '2026-01-01T00:00:00', 'fromisoformat'),
      old: ext(4, 'app', 'Old', { y: 2 }),
      model: ext(5, 'app', 'Model', { z: 3 }, 'model_validate_json'),
      numbers: ext(6, '<f8', [2], 'C', Buffer.alloc(2)),
      whole: ext(7, 'a', 'b'),
    };
    const read = columnValue('msgpack', encode({ ...objects, unknown: new ExtData(99, new Uint8Array(1)) }));
    const made = (id: string[], more: object) => ({ lc: 2, type: 'constructor', id, ...more });
    expect(read).toMatchObject({
      uuid: made(['uuid', 'UUID'], { args: ['ab'] }),
      path: made(['pathlib', 'PosixPath'], { args: ['/', 'tmp'] }),
      point: made(['app', 'Point'], { kwargs: { x: 1 } }),
      at: made(['datetime', 'datetime'], { args: ['2026-01-01T00:00:00'] }),
      old: made(['app', 'Old'], { kwargs: { y: 2 } }),
      model: made(['app', 'Model'], { kwargs: { z: 3 } }),
      numbers: made(['numpy', 'ndarray'], { kwargs: { dtype: '<f8', shape: [2], order: 'C', data: { base64: 'AAA=' } } }),
      whole: ['a', 'b'],
    });
    expect([columnValue('null', null), columnValue('empty', new Uint8Array()), columnValue('pickle', new Uint8Array(1))]).toEqual([
      null,
      null,
      undefined,
    ]);
  });
});

describe('bad input', () => {
  test('[F2] unreadable checkpoints are kept and named, and the others are read', () => {
    const good = packed('HumanMessage', { content: 'hello', type: 'human' });
    const path = pythonDatabase([{ id: 'a', parent: null, messages: [good] }]);
    const db = new Database(path);
    const insert = db.prepare("INSERT INTO checkpoints VALUES ('t', '', ?, ?, ?, ?, ?)");
    insert.run('b', 'a', 'msgpack', Buffer.from([0xc1, 1, 2]), null);
    insert.run('c', 'b', 'json', '{"channel_values": 7}', 'x');
    insert.run('d', 'd', 'pickle', Buffer.from('cos\nsystem\n'), null);
    insert.run('e', 'f', 'json', JSON.stringify({ channel_values: { messages: [{ type: 'human', content: 'on' }, 5] } }), '[]');
    insert.run(
      'f',
      'e',
      'json',
      JSON.stringify({ channel_values: { __proto__: [], messages: [{ role: 'user', content: [{ type: 'odd' }] }] } }),
      null,
    );
    insert.run('g', 'a', 'json', `{"channel_values":{"messages":[],"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`, null);
    db.close();
    const chain = emptyChain();
    const result = importInto(chain, path);
    expect(result.sessions).toBe(1);
    expect(result.skipped.map(({ reason }) => reason)).toEqual([
      'a checkpoint that cannot be read (msgpack): kept unchanged',
      'a checkpoint that cannot be read (json): kept unchanged',
      'a checkpoint that cannot be read (pickle): kept unchanged',
      'a checkpoint that cannot be read (json): kept unchanged',
    ]);
    expect(tips(chain, {}).flatMap(({ id }) => said(chain, id))).toContain('user text  hello');
    for (const { sourceId } of listSources(chain)) bytesOfSource(chain, sourceId);
  });

  test('[F2] a damaged database gives an error or what is left of it', async () => {
    const path = await written();
    const log = `${path}-wal`;
    const sound = readFileSync(path);
    const soundLog = readFileSync(log);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(soundLog.length - 1), fc.nat(255)), { minLength: 1, maxLength: 30 }), fc.boolean(), (flips, isCut) => {
        const damaged = join(scratch(), 'checkpoints.db');
        const bytes = Buffer.from(soundLog);
        for (const [at, value] of flips) bytes[at] = value;
        writeFileSync(damaged, sound);
        writeFileSync(`${damaged}-wal`, bytes);
        if (isCut) truncateSync(`${damaged}-wal`, flips[0]?.[0] ?? 0);
        const result = importInto(emptyChain(), damaged);
        // At worst the content of the log is lost, which leaves a database without threads.
        expect(result.sessions + result.skipped.length + result.notes.length).toBeGreaterThan(0);
      }),
      { numRuns: 6 },
    );
  });
});
