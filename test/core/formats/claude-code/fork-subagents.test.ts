import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entries, tips } from '../../../../src/core/chain/index.js';
import { listSessions } from '../../../../src/core/sessions/index.js';
import { loadPrices } from '../../../../src/core/usage/index.js';
import { prompt } from '../../../support/claude-lines.js';
import { usageCalls } from '../../../support/counted.js';
import { importInto, said } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { root } from '../../../support/source.js';

const session = 'ece4cc0f-7168-472a-ab14-cc9845e3427e';

/** A session with a forked subagent, whose first line has the parent's last record as its parent or none. */
function forked(namesParent: boolean) {
  const folder = scratch();
  cpSync(join(root, 'test/fixtures/cases/fork-subagent-null/projects'), folder, { recursive: true });
  const project = join(folder, readdirSync(folder)[0] ?? '');
  const agent = join(project, session, 'subagents/agent-f100.jsonl');
  if (namesParent) {
    const [ref = '', first = '', ...rest] = readFileSync(agent, 'utf8').split('\n');
    const { parentLastUuid } = JSON.parse(ref) as { parentLastUuid: string };
    writeFileSync(agent, [JSON.stringify({ ...JSON.parse(first), parentUuid: parentLastUuid }), ...rest].join('\n'));
  }
  return { project, parent: join(project, `${session}.jsonl`), agent };
}

const context = [
  'user text  remember the number 42',
  'assistant text  42 noted',
  'assistant tool_call Agent ',
  'user text  Multiply the number by two',
  'assistant text  84',
];

test.each([
  ['a pointer to the parent', false],
  ['the parent in its first line', true],
])('[F52] a forked subagent with %s begins with the context of its parent', async (_, namesParent) => {
  await loadPrices();
  const { project } = forked(namesParent);
  const chain = emptyChain();
  importInto(chain, project);
  const all = tips(chain, {}).map(({ id }) => said(chain, id, 'root'));
  expect(all).toContainEqual(context);
  const { sessions } = listSessions(chain, {});
  expect(sessions.map(({ parentSessionId, subagent, branches }) => [parentSessionId, subagent, branches])).toEqual([
    [undefined, undefined, 1],
    [session, 'fork', 1],
  ]);
  expect(usageCalls(chain, {}).total).toBe(4);
});

test('[F52] a forked subagent whose parent comes later gets its beginning then', () => {
  const { parent, agent } = forked(false);
  const later = join(scratch(), `${session}.jsonl`);
  cpSync(parent, later);
  rmSync(parent);
  const chain = emptyChain();
  importInto(chain, agent);
  expect(tips(chain, {}).map(({ id }) => said(chain, id, 'root'))).toEqual([context.slice(3)]);
  importInto(chain, later);
  expect(tips(chain, {}).map(({ id }) => said(chain, id, 'root'))).toContainEqual(context);
});

test('[F52] a session that goes on in another one says where', () => {
  const chain = emptyChain();
  const folder = scratch();
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 's1.jsonl');
  writeFileSync(path, `${prompt('u1', 'go')}{"type":"continued-in","sessionId":"s1","continuedInSessionId":"s2"}\n`);
  importInto(chain, path);
  expect(tips(chain, {}).flatMap(({ id }) => entries(chain, { id, hidden: true }).entries.map(({ text }) => text))).toContain(
    'continued in the session s2',
  );
});
