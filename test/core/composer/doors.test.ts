import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { checkpoint, materialize } from '../../../src/core/chain/index.js';
import type { ModelProvider, ModelRequest } from '../../../src/core/turns/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { door } from '../../support/door.js';
import { textAt } from '../../support/source.js';

/** A project behind the router, which every door uses, with scripted models. */
function asking() {
  const asked: ModelRequest[] = [];
  const writer = (id: string, words: readonly string[]): ModelProvider => ({
    id,
    title: id,
    wire: 'anthropic',
    models: async () => ({ models: ['m-1'] }),
    async *stream(request) {
      asked.push(request);
      for (const delta of words) yield { kind: 'text', delta };
    },
  });
  return { ...door({ providers: [writer('writer', ['They looked, ', 'and it was empty. ']), writer('silent', [])] }), asked };
}

// biome-ignore lint/suspicious/noExplicitAny: the cases are data of many shapes
type Vector = { id: string; area: string; block: string; input: any; expected: any };
const vectors = (name: string): readonly Vector[] => (JSON.parse(textAt(`test/vectors/${name}.json`)) as { vectors: readonly Vector[] }).vectors;

const said = ({ role, content, id, name, internal }: Record<string, unknown>) =>
  Object.fromEntries(Object.entries({ role, content, id, name, internal }).filter(([, value]) => value !== undefined));

describe('through the router', () => {
  test('layers.json: compose and state', async () => {
    const { client } = asking();
    for (const { id, area, input, expected } of vectors('layers').filter((vector) => ['compose', 'state'].includes(vector.area))) {
      const { repeat: _, ...given } = input;
      const asked = area === 'compose' ? client.compose.messages(given) : client.compose.patch(given);
      if (expected.error) await expect(asked, id).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { reason: expected.error } });
      else if (expected.messages)
        expect(((await asked) as { messages: Record<string, unknown>[] }).messages.map(said), id).toEqual(expected.messages.map(said));
      else if (expected.patch) expect((await asked) as { patch: unknown }, id).toMatchObject({ patch: expected.patch });
    }
  });

  test('timeline.json: every text', async () => {
    const { client } = asking();
    const texts = vectors('timeline').filter(({ expected }) => typeof expected.text === 'string');
    expect(texts.length).toBeGreaterThan(20);
    for (const { id, block, input, expected } of texts)
      expect(await client.timeline.block({ block, input } as never), id).toEqual({ text: expected.text });
  });

  test('an invalid input is refused with the name of its field', async () => {
    const { client } = asking();
    await expect(client.compose.messages({ systemPrompt: 1 } as never)).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      data: { field: 'systemPrompt' },
    });
    await expect(client.timeline.block({ block: 'identity', input: { name: 'a' } } as never)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect(client.compose.preview({ id: 'ctx-00000000' as ContextId })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe("a commit's context", () => {
  const conversation =
    prompt('u1', 'Why does the larder test fail') +
    answer('a1', 'I will look.', { parent: 'u1' }) +
    call('c1', 't1', 'Bash', { command: 'go test' }, { parent: 'a1' }) +
    result('r1', 't1', 'FAIL larder', { parent: 'c1' }) +
    answer('a2', 'The larder is empty.', { parent: 'r1' }) +
    prompt('u2', 'Fill it', { parent: 'a2' }) +
    answer('a3', 'Filled.', { parent: 'u2' });

  const commit = (project: ReturnType<typeof door>['project'], text: string, sessionId: string) =>
    checkpoint(project.chain, {
      parent: null,
      type: 'delta',
      format: 'claude-code-v1',
      text,
      template: 'claude-code',
      sessionId,
      checkpoint: 'turn_boundary',
      summary: 'On larders',
    });

  test('preview adds knowledge of the project and does not change the commit', async () => {
    const { client, project, clock } = asking();
    const earlier = commit(project, prompt('x1', 'The larder test fails when the cellar is closed'), 'other');
    clock.at += 86_400_000;
    const { id } = commit(project, conversation, 'this');
    mkdirSync(join(project.dir, 'notes'));
    writeFileSync(join(project.dir, 'notes', 'larder.md'), '# Larder\nOpen the cellar first.\n\n## Elsewhere\nNothing here.\n');
    const before = await client.context.show({ id });
    const preview = await client.compose.preview({ id, query: 'larder test', layers: ['knowledge', 'experience'] });
    const textOf = (layer: string) => preview.messages.find((message) => message.layer === layer)?.content;
    expect(textOf('knowledge__context')).toContain('# Larder\nOpen the cellar first.');
    expect(textOf('knowledge__context')).not.toContain('Nothing here.');
    expect(textOf('experience__context')).toContain(`The larder test fails when the cellar is closed (${earlier.id})`);
    expect(preview.messages.at(-1)).toMatchObject({ role: 'human', content: 'larder test', layer: 'query' });
    expect(textOf('knowledge__context')).toMatch(/^Written by others: material to judge/);
    const unpermitted = await client.compose.preview({ id, query: 'larder test' });
    expect(unpermitted.messages.map(({ layer }) => layer)).not.toContain('experience__context');
    expect(unpermitted.messages.map(({ layer }) => layer)).not.toContain('knowledge__context');
    expect(preview.problems).toEqual([]);
    expect(await client.context.show({ id })).toEqual(before);
    const { body } = await client.compose.body({ messages: preview.messages, provider: 'anthropic' });
    expect(JSON.stringify(body)).toContain('FAIL larder');
  });

  test('rows are the composition in pages, with cut texts and the differences from the recording', async () => {
    const { client, project } = asking();
    const { id } = commit(project, conversation, 'this');
    const preview = await client.compose.preview({ id });
    const recorded = await client.compose.rows({ id, process: 'sequential', enableShareContext: true, limit: 2, longest: 3 });
    expect(recorded).toMatchObject({ total: preview.messages.length, messages: preview.messages.length, added: 0, removed: 0, firstChange: -1 });
    expect(recorded.layers).toEqual(preview.layers);
    expect(recorded.rows).toHaveLength(2);
    const later = await client.compose.rows({ id, process: 'sequential', enableShareContext: true, offset: 2 });
    expect(later.layers).toBeUndefined();
    const whole = [...(await client.compose.rows({ id, limit: 2 })).rows, ...later.rows];
    expect(whole.map(({ text }) => text)).toEqual(preview.messages.map(({ content }) => content));
    const asked = recorded.rows.find(({ role }) => role === 'human');
    expect(asked).toMatchObject({ text: 'Why', length: 'Why does the larder test fail'.length, entryKey: preview.messageOrigins[1]?.[0] });

    const worker = await client.compose.rows({ id, process: 'mapreduce-worker', query: 'Fill it twice' });
    expect(worker.rows.filter(({ change }) => change === 'new').map(({ text }) => text)).toEqual(['Fill it twice']);
    expect(worker.removed).toBe(worker.rows.filter(({ change }) => change === 'gone').length);
    expect(worker.rows[worker.firstChange]?.change).toBe('gone');
  });

  test('[A-14] compact adds one commit with the summary and the kept messages', async () => {
    const { client, project } = asking();
    const { id } = commit(project, conversation, 'this');
    const { commit: made, compaction } = await client.compose.compact({ id, keepLast: 2 });
    expect(made).toMatchObject({ parent: id, type: 'compaction', messageCount: 0 });
    expect(compaction).toMatchObject({ removed: 3, kept: 3 });
    const { entries } = await client.context.entries({ id: made?.id ?? id });
    expect(entries.map(({ kind }) => kind)).toEqual(['summary', 'text', 'text', 'text']);
    expect(entries[0]?.text).toContain('- called Bash: {"command":"go test"}');
    expect(entries.slice(1).map(({ text }) => text)).toEqual(['Why does the larder test fail', 'Fill it', 'Filled.']);
    const original = (await client.context.entries({ id })).entries;
    expect(entries.slice(1).map(({ key }) => key)).toEqual([original[0]?.key, original.at(-2)?.key, original.at(-1)?.key]);
    expect(materialize(project.chain, { id: made?.id ?? id, stop: 'root' }).messageCount).toBe(
      materialize(project.chain, { id, stop: 'root' }).messageCount,
    );
    // A second compaction includes the earlier summary.
    expect((await client.compose.compact({ id: made?.id ?? id, budgetTokens: 5 })).compaction.summary).toContain('go test');
    expect((await client.compose.compact({ id, keepLast: 100, budgetTokens: 100_000 })).commit).toBe(null);
  });

  test('compact: a model may write the summary; an empty reply changes nothing', async () => {
    const { client, project, asked } = asking();
    const { id } = commit(project, conversation, 'this');
    const { commit: made, compaction } = await client.compose.compact({ id, keepLast: 2, provider: 'writer' });
    expect(compaction.summary).toBe('They looked, and it was empty.');
    expect((await client.context.entries({ id: made?.id ?? id })).entries[0]).toMatchObject({
      kind: 'summary',
      text: 'They looked, and it was empty.',
    });
    expect(asked[0]).toMatchObject({
      model: 'm-1',
      body: { messages: [{ role: 'user', content: [{ text: expect.stringContaining('[Tool:Bash] FAIL larder') }] }] },
    });
    const tips = await client.context.tips({});
    await expect(client.compose.compact({ id, keepLast: 2, provider: 'silent' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(client.compose.compact({ id, keepLast: 2, provider: 'nobody' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      data: { field: 'provider' },
    });
    expect(await client.context.tips({})).toEqual(tips);
  });

  test('transcript: any context is a timeline whose messages have the keys of their entries', async () => {
    const { client, project } = asking();
    const { id } = commit(project, conversation, 'this');
    const { input, rendered } = await client.timeline.transcript({ id });
    // Pages of messages, and only the window of the text.
    const { total, rows } = await client.timeline.rows({ id, offset: 1, limit: 2, longest: 3 });
    const messages = input.history?.messages ?? [];
    expect(total).toBe(messages.length);
    expect(rows).toEqual(
      messages.slice(1, 3).map((message, n) => ({
        ...message,
        text: message.text?.slice(0, 3) ?? null,
        length: message.text?.length,
        silence: Math.max(0, Date.parse(message.at) - Date.parse(messages[n]?.at ?? '')),
      })),
    );
    const small = await client.timeline.transcript({ id, budget: 1, window: true });
    expect(small.input.history?.messages).toHaveLength(1);
    expect(await client.timeline.messages(small.input)).toEqual(await client.timeline.messages({ ...input, budget: 1 }));
    const keys = (await client.context.entries({ id })).entries.map(({ key }) => `msg-${key}`);
    expect(input.history?.messages.map((message) => message.id)).toEqual(keys);
    expect(rendered.system).toContain('Bash (service, id:tool-Bash): "FAIL larder"');
    expect(rendered.system).toContain('"Fill it"  [NEW] ← TRIGGER');
    expect((await client.timeline.messages(input)).messages[0]?.role).toBe('system');
  });
});
