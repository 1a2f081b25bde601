import { ORPCError } from '@orpc/server';
import { describe, expect, test } from 'vitest';
import { type ContextId, contract, describeProcedure, type JsonSchema, procedureNames } from '../../../src/core/contract/index.js';
import { door } from '../../support/door.js';

const names = procedureNames(contract);

/** Objects that refuse unknown fields by a check of their own, and objects that are open by design. */
const checkedElsewhere =
  /^(card\.add\.card|profile\.put\.card|agent\.write\.cards|agent\.answer\.card|compose\.messages|compose\.(messages\.checkpointMessages|shorten\.messages|body\.messages)|.*\.metadata)$/;

/** Objects of an input that take unknown fields. */
function openObjects(schema: JsonSchema, path: string): string[] {
  const own = schema.properties && schema.additionalProperties !== false ? [path] : [];
  const below = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? []), ...(schema.items ? [schema.items] : [])];
  if (typeof schema.additionalProperties === 'object') below.push(schema.additionalProperties);
  return [
    ...own,
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => openObjects(field, `${path}.${name}`)),
    ...below.flatMap((each) => openObjects(each, path)),
  ];
}

/** Fields without which another check comes first. */
const needed: Readonly<Record<string, object>> = {
  'timeline.block': { block: 'goals', input: { goals: [] } },
  'compose.messages': { systemPrompt: '', checkpointMessages: [], contexts: {}, queryPath: 'none' },
};

describe('inputs', () => {
  test.each(names)('%s is strict in every object of its input', (name) => {
    const open = openObjects(describeProcedure(contract, name)?.input ?? {}, name);
    expect(open.filter((path) => !checkedElsewhere.test(path))).toEqual([]);
  });

  test('[C24] every procedure refuses an unknown field by its name', { tags: 'long' }, async () => {
    const { client } = door();
    const unnamed: string[] = [];
    for (const name of names) {
      const [namespace, procedure] = name.split('.') as [string, string];
      const calls = client as unknown as Record<string, Record<string, (input: object) => Promise<unknown>>>;
      const input = { ...needed[name], unknownField: 1 };
      const refused = await calls[namespace]?.[procedure]?.(input).catch((error: unknown) => error);
      const data = refused instanceof ORPCError && refused.code === 'BAD_REQUEST' ? (refused.data as { field?: string }) : {};
      if (data.field !== 'unknownField') unnamed.push(`${name}: ${JSON.stringify(refused)}`);
    }
    expect(unnamed).toEqual([]);
  });

  test('[C24] a value that fits none of several forms is named where it breaks the nearest one', async () => {
    const { client } = door();
    const what = { commit: 'ctx-00000000' as ContextId };
    const fieldOf = (performer: object) =>
      client.runner.start({ what, performer: performer as never }).catch((error: ORPCError<string, { field: string }>) => error.data.field);
    expect(await fieldOf({ agent: 'nobody', folder: '/tmp' })).toBe('performer.agent');
    expect(await fieldOf({ agent: 'codex', folder: '' })).toBe('performer.folder');
    expect(await fieldOf({ provider: '' })).toBe('performer.provider');
  });

  test('[C24] an entry that was read can be written back, and nothing else', async () => {
    const { client } = door();
    const written = await client.context.fork({ id: null, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Hello' } }] });
    const [read] = (await client.context.entries({ id: written.id })).entries;
    const entry = { ...read, text: 'Changed' } as never;
    const { id } = await client.context.fork({ id: written.id, edits: [{ op: 'replace', key: read?.key, entry }] });
    expect((await client.context.entries({ id })).entries.map((each) => each.text)).toEqual(['Changed']);
    const wrong = client.context.fork({ id, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', txt: 'Hello' } as never }] });
    await expect(wrong).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { field: 'edits.0.entry.txt' } });
  });
});
