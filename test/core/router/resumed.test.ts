import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answer, prompt } from '../../support/claude-lines.js';
import { desk } from '../../support/desk.js';
import { scratch } from '../../support/project.js';

const session = '33333333-3333-4333-8333-333333333333';

test('[W46] what an agent adds after Resume belongs to the session that it continues', async () => {
  const home = scratch();
  const root = join(home, '.claude');
  const folder = join(root, 'projects', '-work-shop');
  mkdirSync(folder, { recursive: true });
  const extra = { sessionId: session };
  const file = join(folder, `${session}.jsonl`);
  writeFileSync(file, prompt('u1', 'Count the stock.', { extra }) + answer('a1', 'Twelve.', { parent: 'u1', extra }));
  const { call } = desk(scratch(), { agentRoots: [{ agent: 'claude-code', root }] });
  await call.project.create({ dir: join(home, 'p.stemma') });
  for await (const _ of await call.import.run({ paths: [file] })) void _;
  const [tip] = await call.context.tips({});
  const resumed = await call.export.resume({ id: tip?.id ?? '', cwd: home });
  // Nothing is new yet, and the list has no second row.
  expect((await call.library.sessions({ root })).every(({ imported }) => imported)).toBe(true);
  expect((await call.session.list({})).sessions).toMatchObject([{ sessionId: session, turns: 1, continuedAs: [resumed.sessionId] }]);

  const more = { sessionId: resumed.sessionId };
  appendFileSync(resumed.path, prompt('u2', 'And the shelf?', { parent: 'a1', extra: more }) + answer('a2', 'Three.', { parent: 'u2', extra: more }));
  expect((await call.library.sessions({ root })).filter(({ imported }) => !imported)).toMatchObject([{ sessionId: resumed.sessionId }]);
  for await (const _ of await call.import.run({ paths: [resumed.path] })) void _;
  const { sessions } = await call.session.list({});
  expect(sessions).toMatchObject([{ sessionId: session, turns: 2, branches: 1 }]);
  expect(await call.session.place({ id: sessions[0]?.tips[0] ?? '' })).toMatchObject({ sessionId: session, turn: { number: 2, of: 2 } });

  // Deleting the session takes what was added with it, and undo brings all of it back.
  await call.session.delete({ sessionId: session });
  expect((await call.session.list({})).sessions).toEqual([]);
  await call.session.delete({ sessionId: session, deleted: false });
  expect((await call.session.list({})).sessions).toMatchObject([{ sessionId: session, turns: 2 }]);
});

test('[W45] an import of a path that does not exist names the absolute path', async () => {
  const { call } = desk();
  await call.project.create({ dir: join(scratch(), 'p.stemma') });
  const run = await call.import.run({ paths: ['~/no-such-history.jsonl'] });
  let step = await run.next();
  while (!step.done) step = await run.next();
  expect(step.value).toMatchObject({ skipped: [{ path: join(homedir(), 'no-such-history.jsonl'), reason: 'it does not exist' }] });
});
