import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { listSessions } from '../../../src/core/sessions/index.js';
import { usageCalls, usageSessions } from '../../../src/core/usage/index.js';
import { importInto, said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

const cases = join(import.meta.dirname, '../../fixtures/cases');
const more = resolve(import.meta.dirname, '../../../../shared/transcripts-more');

function read(path: string) {
  const chain = emptyChain();
  const { skipped, notes } = importInto(chain, path);
  const { sessions } = listSessions(chain, {});
  return {
    skipped,
    notes,
    agents: sessions.map(({ agent }) => agent),
    turns: sessions.map(({ turns }) => turns),
    said: sessions.flatMap(({ tips }) => tips.flatMap((tip) => said(chain, tip, 'root'))),
    tokens: usageSessions(chain, { groupBy: null }).totals.tokens,
    calls: usageCalls(chain, {}).total,
  };
}

test('[F43] the log of codex exec is a turn with its command, answer and counts', () => {
  expect(read(join(cases, 'codex-exec-json/out.jsonl'))).toMatchObject({
    agents: ['codex'],
    turns: [1],
    said: [
      'assistant thinking  **Looking**',
      'assistant tool_call command_execution ',
      'tool tool_result command_execution a.txt',
      'assistant text  There is a.txt',
    ],
    tokens: { input: 500, cacheRead: 500, output: 20 },
  });
});

test('[F43] the logs of Gemini and Cursor are turns with prompt, tools and answer', () => {
  expect(read(join(cases, 'gemini-stream-json/gemini.jsonl'))).toMatchObject({
    agents: ['gemini'],
    said: ['user text  list files', 'assistant tool_call list_directory ', 'tool tool_result list_directory a.txt', 'assistant text  a.txt'],
    tokens: { input: 200, output: 50 },
  });
  expect(read(join(cases, 'gemini-stream-json/cursor.jsonl'))).toMatchObject({ agents: ['cursor'], turns: [1] });
});

test('[F43] OpenCode 2: a session is read from the new tables alone', () => {
  expect(read(join(cases, 'opencode-v2-only/opencode/opencode.db'))).toMatchObject({
    agents: ['opencode'],
    turns: [1],
    said: [
      'user text  new question in v2',
      'assistant thinking  let me look',
      'assistant tool_call shell ',
      'tool tool_result shell a.txt',
      'assistant text  new answer in v2',
    ],
    calls: 2,
    tokens: { input: 2_000, output: 80 },
  });
});

test('[F43] a file from which nothing was read says why', () => {
  const path = join(scratch(), 'session.jsonl');
  writeFileSync(path, readFileSync(join(cases, 'claude-no-uuid/session.jsonl')));
  const { turns, skipped, notes } = read(path);
  expect(turns[0] === 1 || skipped.length + notes.length > 0).toBe(true);
});

test.skipIf(!existsSync(more))('[F43] threads of Amp and logs of Droid (need ../shared)', () => {
  expect(read(join(more, 'amp'))).toMatchObject({ agents: ['amp'] });
  expect(read(join(more, 'droid-stream'))).toMatchObject({ agents: ['droid'] });
});
