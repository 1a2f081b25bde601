import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../../src/core/base/index.js';
import { contextEntries, fork, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { exportContext } from '../../../../src/core/export/index.js';
import { listSources } from '../../../../src/core/import/index.js';
import { hasAgent, liveRun, tools, transcripts, unlessHere } from '../../../support/agents.js';
import { importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { expectRetold } from '../retold.js';

interface Message {
  readonly role: string;
  readonly content: readonly Record<string, unknown>[];
}

const judge = join(import.meta.dirname, 'resume.cjs');
const lib = join(tools, 'lib/agents.cjs');

/** What the real agent sends when it continues the session and gets the prompt PING. It imports `file` first, where one is given. */
function sentFor(home: string, session: string, file?: string): readonly Message[] {
  const ran = spawnSync(process.execPath, [judge, lib, home, session, ...(file === undefined ? [] : [file])], { encoding: 'utf8' });
  const { messages, said } = JSON.parse(ran.stdout) as { messages: readonly Message[] | null; said?: string };
  expect(messages, `${said}${ran.stderr}`).not.toBeNull();
  return (messages ?? []).map(({ role, content }) => ({ role, content: content.map(({ cache_control: _, ...block }) => block) }));
}

/** The context as a document that the agent imports, and the id of its session. */
function exported(chain: WriteChain, id: ContextId): { readonly path: string; readonly session: string } {
  const path = join(scratch(), 'session.json');
  exportContext(chain, { id, format: 'opencode-v1', path });
  return { path, session: (JSON.parse(readFileSync(path, 'utf8')) as { info: { id: string } }).info.id };
}

describe.skipIf(!hasAgent('opencode'))(`the real OpenCode${unlessHere('opencode')}`, () => {
  const home = hasAgent('opencode') ? liveRun('opencode').home : '';

  test('[F14] imports an exported session and continues it like the original', () => {
    const chain = emptyChain();
    importInto(chain, join(home, '.opencode/data/opencode/opencode.db'));
    const source = listSources(chain).find(({ title }) => title === 'Queue retry (fork #1)');
    const original = scratch();
    cpSync(join(home, '.opencode'), join(original, '.opencode'), { recursive: true });
    const { path, session } = exported(chain, source?.tips.at(-1) as ContextId);
    const sent = sentFor(scratch(), session, path);
    expect(sent.at(-1)?.content).toEqual([{ type: 'text', text: 'PING' }]);
    expect(sent).toEqual(sentFor(original, source?.sessionId ?? ''));
  });

  test('[F14] continues a fork from the middle of turns that a person reverted', () => {
    const chain = emptyChain();
    importInto(chain, join(home, '.opencode/data/opencode/opencode.db'));
    const dead = tips(chain, {}).find(({ summary }) => summary === 'A dead end') as { id: ContextId };
    const at = contextEntries(chain, { id: dead.id }).find(({ entry }) => entry.text === 'It doubles, then one is added.')?.key as never;
    const cut = fork(chain, { id: dead.id, at, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'And a word of ours' } }] });
    const half = exported(chain, cut.id);
    const sent = JSON.stringify(sentFor(scratch(), half.session, half.path));
    expect(sent).toContain('And a word of ours');
    expect(sent).not.toContain('A dead end');
  });

  test('OpenCode resumes a Claude Code session with its texts, calls and results', () => {
    const chain = emptyChain();
    const { tips: all } = importInto(chain, join(transcripts, 'claude-code/entire-ada8171575ce-image-in-tool-result.jsonl'));
    const id = all.at(-1) as ContextId;
    const { path, session } = exported(chain, id);
    const sent = JSON.stringify(sentFor(scratch(), session, path));
    const said = contextEntries(chain, { id }).map(({ entry }) => entry);
    expect(said.length).toBeGreaterThan(20);
    expectRetold(sent, said);
  });
});
