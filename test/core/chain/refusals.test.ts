import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ORPCError } from '@orpc/server';
import { describe, expect, test } from 'vitest';
import { parseInstant } from '../../../src/core/base/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { door } from '../../support/door.js';

/** Sends bad input through the router: it must name the field and write nothing. */
const huge = 'x'.repeat(10_000_000);
const text = prompt('u1', 'what is refused?') + answer('a1', 'what does not fit', { parent: 'u1' });
const fits = { parent: null, type: 'delta', format: 'claude-code-v1', text, template: 't', checkpoint: 'explicit' } as const;

/** Counts the rows of every table and the object files, to detect any write. */
function written({ project }: ReturnType<typeof door>): unknown {
  const tables = project.db.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
  );
  const rows = tables.map(({ name }) => [name, project.db.one(`SELECT COUNT(*) AS n FROM "${name}"`)]);
  return [rows, readdirSync(join(project.dir, 'objects'), { recursive: true })];
}

/** A chain of two commits and a second root. */
async function filled() {
  const world = door();
  const root = await world.client.context.checkpoint(fits);
  world.clock.at += 1_000;
  const tip = await world.client.context.checkpoint({ ...fits, parent: root.id, text: prompt('u2', 'more', { parent: 'a1' }) });
  const other = await world.client.context.checkpoint({ ...fits, text: prompt('o1', 'elsewhere') });
  return { ...world, root, tip, other };
}

async function refused(
  world: ReturnType<typeof door>,
  code: string,
  field: string,
  call: () => Promise<unknown>,
): Promise<ORPCError<string, unknown>> {
  const before = written(world);
  const error = await call().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ORPCError);
  expect(error).toMatchObject({ code, data: { field } });
  expect(written(world)).toEqual(before);
  // The error does not contain the ten megabytes.
  expect(JSON.stringify((error as ORPCError<string, unknown>).data).length + (error as Error).message.length).toBeLessThan(2_000);
  return error as ORPCError<string, unknown>;
}

/** Input of the wrong shape, as an untyped client may send it. */
// biome-ignore lint/suspicious/noExplicitAny: the types would reject this input
const wrong = (input: object): any => input;

describe('refused input writes nothing', () => {
  test.each([
    ['an unknown parent', 'NOT_FOUND', 'parent', { parent: 'ctx-00000000' }],
    ['a parent that is no id', 'BAD_REQUEST', 'parent', { parent: 'HEAD~1' }],
    ['an unknown type', 'BAD_REQUEST', 'type', { type: 'merge' }],
    ['an unknown trigger', 'BAD_REQUEST', 'checkpoint', { checkpoint: 'whenever' }],
    ['an unknown format', 'BAD_REQUEST', 'format', { format: 'no-such-v9' }],
    ['a malformed format name', 'BAD_REQUEST', 'format', { format: '../../etc/passwd' }],
    ['text that does not decode', 'BAD_REQUEST', 'text', { text: 'this is no JSON line\n' }],
    ['text of which one line does not decode', 'BAD_REQUEST', 'text', { text: `${text}{"type":"user","uuid":` }],
    [
      'bytes that do not decode',
      'BAD_REQUEST',
      'data',
      { text: undefined, format: 'bureau-agent-v1', data: Buffer.from('no CBOR').toString('base64') },
    ],
    ['invalid base64', 'BAD_REQUEST', 'data', { text: undefined, data: 'not*base64' }],
    ['text that does not decode, with counts', 'BAD_REQUEST', 'text', { text: 'this is no JSON line\n', messageCount: 1, tokenCount: 1 }],
    ['no content', 'BAD_REQUEST', 'artifactRef', { text: undefined }],
    ['content given twice', 'BAD_REQUEST', 'artifactRef', { artifactRef: `blake3:${'0'.repeat(64)}` }],
    ['more messages than there are', 'BAD_REQUEST', 'messageCount', { messageCount: 7 }],
    ['fewer messages than there are, all counts given', 'BAD_REQUEST', 'messageCount', { messageCount: 0, tokenCount: 12 }],
    ['more tokens than bytes', 'BAD_REQUEST', 'tokenCount', { tokenCount: 1_000_000 }],
    ['no tokens where there are words', 'BAD_REQUEST', 'tokenCount', { messageCount: 2, tokenCount: 0 }],
    ['a negative count', 'BAD_REQUEST', 'tokenCount', { tokenCount: -1 }],
    ['half a message', 'BAD_REQUEST', 'messageCount', { messageCount: 0.5 }],
    ['a date beyond any clock', 'BAD_REQUEST', 'createdAt', { createdAt: '+275760-09-13T00:00:00.000Z' }],
    ['a day that no calendar has', 'BAD_REQUEST', 'createdAt', { createdAt: '2026-02-30T00:00:00.000Z' }],
    ['text that is not a date', 'BAD_REQUEST', 'createdAt', { createdAt: 'yesterday' }],
    ['a template of 10 MB', 'BAD_REQUEST', 'template', { template: huge }],
    ['a principal of 10 MB', 'BAD_REQUEST', 'principal', { principal: huge }],
    ['a session of 10 MB', 'BAD_REQUEST', 'sessionId', { sessionId: huge }],
    ['a tag of 10 MB', 'BAD_REQUEST', 'tags.1', { tags: ['fine', huge] }],
    ['a summary of 10 MB', 'BAD_REQUEST', 'summary', { summary: huge }],
    ['a parent of 10 MB', 'BAD_REQUEST', 'parent', { parent: `ctx-${huge}` }],
    ['a format of 10 MB', 'BAD_REQUEST', 'format', { format: huge }],
  ] as const)('[C21] checkpoint: %s', async (_, code, field, change) => {
    const world = await filled();
    await refused(world, code, field, () => world.client.context.checkpoint(wrong({ ...fits, ...change })));
  });

  test('[C21] checkpoint refuses missing artifacts, invalid content and wrong counts', async () => {
    const world = await filled();
    const { ref } = await world.client.artifact.put({ text: 'this is no JSON line\n', contentType: 'text/plain' });
    const stored = await world.client.artifact.put({ text, contentType: 'text/plain' });
    const of =
      (artifactRef: string, more: object = {}) =>
      () =>
        world.client.context.checkpoint(wrong({ ...fits, text: undefined, artifactRef, ...more }));
    await refused(world, 'BAD_REQUEST', 'artifactRef', of(ref));
    await refused(world, 'BAD_REQUEST', 'artifactRef', of(ref, { messageCount: 1, tokenCount: 1 }));
    await refused(world, 'BAD_REQUEST', 'messageCount', of(stored.ref, { messageCount: 3, tokenCount: 20 }));
    await expect(of(`blake3:${'0'.repeat(64)}`)()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await of(stored.ref, { messageCount: 2, tokenCount: 20 })()).toMatchObject({ messageCount: 2, tokenCount: 20 });
  });

  test('[C5, C21] a stop that is not an ancestor, does not exist or is malformed is refused', async () => {
    const world = await filled();
    const { client, tip, other } = world;
    const to = (stop: string) => () => client.context.materialize(wrong({ id: tip.id, stop }));
    const error = await refused(world, 'BAD_REQUEST', 'stop', to(other.id));
    expect(error.data).toMatchObject({ id: tip.id, stop: other.id });
    await refused(world, 'NOT_FOUND', 'stop', to('ctx-00000000'));
    const words = await refused(world, 'BAD_REQUEST', 'stop', to('sometime'));
    expect(words.message).toContain('It must be `compaction`, `root`, or the id of an ancestor');
    await refused(world, 'BAD_REQUEST', 'format', () => client.context.materialize({ id: tip.id, format: 'no-such-v9' }));
    await refused(world, 'BAD_REQUEST', 'stop', () => client.context.snapshot({ id: tip.id, stop: other.id }));
  });

  test('[C13, C21] update refuses fields other than summary and tags', async () => {
    const world = await filled();
    const { client, tip } = world;
    for (const field of ['parent', 'type', 'artifactRef', 'format', 'template', 'principal', 'checkpoint', 'messageCount', 'createdAt'])
      await refused(world, 'BAD_REQUEST', field, () => client.context.update(wrong({ id: tip.id, summary: 'new', [field]: 'new' })));
    await refused(world, 'BAD_REQUEST', 'summary', () => client.context.update({ id: tip.id, summary: huge }));
    expect(await client.context.show({ id: tip.id })).toMatchObject(tip);
  });

  test('[C17, C21] an ambiguous id prefix is refused with its candidates', async () => {
    const world = await filled();
    const { client, root, tip, other } = world;
    for (const call of [
      () => client.context.show(wrong({ id: 'ctx-' })),
      () => client.context.materialize(wrong({ id: 'ctx-' })),
      () => client.context.update(wrong({ id: 'ctx-', summary: 'x' })),
      () => client.context.fork(wrong({ id: 'ctx-' })),
    ]) {
      const { data } = await refused(world, 'BAD_REQUEST', 'id', call);
      expect((data as { candidates: string[] }).candidates.sort()).toEqual([root.id, tip.id, other.id].sort());
    }
    await refused(world, 'BAD_REQUEST', 'parent', () => client.context.checkpoint(wrong({ ...fits, parent: 'ctx-' })));
    await refused(world, 'NOT_FOUND', 'id', () => client.context.show(wrong({ id: `ctx-${'0'.repeat(40)}` })));
  });

  test('[C11, C21] resolve refuses an invalid date', async () => {
    const world = await filled();
    for (const at of ['+275760-09-13T00:00:00.000Z', '-000001-01-01T00:00:00.000Z', '2026-02-29T00:00:00Z', '2026-13-01', 'noon', '1767225600000'])
      await refused(world, 'BAD_REQUEST', 'at', () => world.client.context.resolve(wrong({ principal: 'p', at })));
    await refused(world, 'BAD_REQUEST', 'principal', () => world.client.context.resolve(wrong({ principal: huge, at: '2026-01-01' })));
  });

  test.each([
    ['2026-02-28T10:00:00+02:00', '2026-02-28T08:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2026-12-31T24:00:00Z', '2027-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59.999-01:00', undefined],
    ['2100-02-29T00:00:00Z', undefined],
    ['2026-04-31T00:00:00Z', undefined],
    ['2026-00-01', undefined],
    ['2026-01-00', undefined],
  ])('[C12] the instant %s is %s', (said, meant) => {
    const ms = parseInstant(said);
    expect(ms === undefined ? undefined : new Date(ms).toISOString()).toBe(meant);
  });
});

describe('a fork that ends with a commit', () => {
  test('[C15] makes a commit only for a cut with new metadata', async () => {
    const world = await filled();
    const { client, root, tip, clock } = world;
    clock.at += 5_000;
    expect((await client.context.fork({ id: tip.id, at: 'a1.0' as never })).id).toBe(root.id);
    const made = await client.context.fork({ id: tip.id, at: 'a1.0' as never, summary: 'another way', template: 'reviewer' });
    expect(made).toMatchObject({ parent: null, summary: 'another way', template: 'reviewer', artifactRef: root.artifactRef });
    expect(made.id).not.toBe(root.id);
    expect((await client.context.show({ id: root.id })).summary).toBeUndefined();
    const again = await client.context.fork({ id: made.id, at: 'a1.0' as never, summary: 'another way' });
    expect(again.id).toBe(made.id);
  });

  test('[C15, C21] a summary without a new commit is refused', async () => {
    const world = await filled();
    await refused(world, 'BAD_REQUEST', 'summary', () => world.client.context.fork({ id: world.tip.id, summary: 'lost' }));
  });
});
