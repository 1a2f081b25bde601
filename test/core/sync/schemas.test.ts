import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { WriteChain } from '../../../src/core/chain/index.js';
import { createEngine, createSession } from '../../../src/core/project/index.js';
import { contextOf, router } from '../../../src/core/router/index.js';
import { itemSchemas, pull, push, validateItem } from '../../../src/core/sync/index.js';
import { openRows } from '../../../src/core/sync/rows.js';
import { rules } from '../../../src/core/sync/rules.js';
import { fakeHub } from '../../support/fake-hub.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

const fixtures = join(import.meta.dirname, '../../fixtures');

async function sampleChain(): Promise<WriteChain> {
  const home = scratch();
  const sampleDir = join(import.meta.dirname, '../../../resources/sample');
  const engine = createEngine({ dataDir: home, agentRoots: [], sampleDir, startup: { paths: [], project: null }, platform: 'linux' });
  onTestFinished(() => engine.close());
  const session = createSession(engine);
  const client = createRouterClient(router, { context: contextOf(session) });
  await client.project.open(await client.library.sample({}));
  return session.project().chain;
}

describe('the schemas of items', () => {
  test('[E50] every kind that travels has a schema with exactly its columns', () => {
    const rows = openRows(emptyChain());
    for (const rule of rules) {
      const schema = itemSchemas.get(rule.kind) as unknown as { shape: object } | undefined;
      expect(Object.keys(schema?.shape ?? {}).sort(), rule.kind).toEqual([...rows.shape(rule).columns].sort());
    }
    expect(itemSchemas.size).toBe(rules.length);
  });

  test('[E50] everything that a project sends is valid, and arrives', { tags: 'long' }, async () => {
    const mine = await sampleChain();
    importInto(mine, ...['codex', 'pi', 'gemini', 'copilot-cli', 'subagents'].map((name) => join(fixtures, name)));
    const hub = fakeHub();
    await push(mine, hub);
    expect(hub.list.length).toBeGreaterThan(100);
    for (const { kind, body } of hub.list) expect(validateItem(kind, body), `${kind} ${JSON.stringify(body).slice(0, 500)}`).toBeUndefined();
    const theirs = emptyChain();
    expect((await pull(theirs, hub)).refused).toEqual([]);
  });
});
