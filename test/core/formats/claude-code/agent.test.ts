import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Timestamp } from '../../../../src/core/base/index.js';
import { claudeCode, type ImportPlan, type ParsedEntry, wireMessages } from '../../../../src/core/formats/index.js';
import { hasAgent, liveRun, sentOnResume, unlessHere, wantsAll } from '../../../support/agents.js';
import { scratch } from '../../../support/project.js';
import { uncutCorpus } from './corpus.js';
import { deltaOf, lastTip, lineage, plan } from './records.js';

/** A message in the form in which both sides are compared. Thinking is sent only to the model that wrote it. */
type Said = { readonly role: string; readonly blocks: readonly string[] };
interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly content?: string | readonly Block[];
  readonly source?: { readonly data?: string };
}
const inWords = (messages: readonly { role: string; content: string | readonly Block[] }[]): Said[] =>
  messages.map(({ role, content }) => ({
    role,
    blocks: (typeof content === 'string' ? [{ type: 'text', text: content }] : content).flatMap(blockInWords),
  }));

function blockInWords(block: Block): string[] {
  switch (block.type) {
    case 'text':
      return [`says ${block.text}`];
    case 'tool_use':
      return [`calls ${block.id}`];
    case 'tool_result':
      return [
        `gets ${block.tool_use_id}: ${typeof block.content === 'string' ? block.content : (block.content ?? []).flatMap(blockInWords).join('|')}`,
      ];
    case 'thinking':
    case 'redacted_thinking':
      return [];
    default:
      return [`${block.type} of ${block.source?.data?.length}`];
  }
}

/** The oracle joins text that it receives in pieces, and damages a character that spans two of them. */
const legible = (said: readonly Said[]): string => JSON.stringify(said).replace(/[^\x20-\x7e]+/g, '~');

/** What the real agent sends when it resumes the file and gets the prompt PING, without that turn and the agent's closing text. */
function sentFor(path: string): Said[] {
  const sent = inWords(sentOnResume('claude', path) as never);
  return withoutClosing(sent.slice(0, -1));
}

const withoutClosing = (said: readonly Said[]): Said[] => said.slice(0, said.at(-1)?.blocks[0] === 'says No response requested.' ? -1 : undefined);

function sentForBytes(bytes: Uint8Array): Said[] {
  const path = join(scratch(), '22222222-2222-4222-8222-222222222222.jsonl');
  writeFileSync(path, bytes);
  return sentFor(path);
}

interface History {
  readonly file: Uint8Array;
  readonly planned: ImportPlan;
}
const historyOf = (path: string): History => {
  const file = readFileSync(path);
  return { file, planned: plan(file, { path }) };
};

const delta = ({ file, planned }: History, at: number): Uint8Array => deltaOf(file, planned.commits[at] as ImportPlan['commits'][number]);

/** What the model saw at a commit, according to Stemma. */
function seen({ planned }: History, way: readonly number[], last?: readonly ParsedEntry[]): Said[] {
  const from = way.findLastIndex((at) => planned.commits[at]?.type === 'compaction');
  const entries = way.slice(Math.max(from, 0)).flatMap((at) => planned.commits[at]?.entries ?? []);
  return inWords(wireMessages([...entries, ...(last ?? [])]) as never);
}

/** The agent closes a last turn without an answer, or extends it by the next prompt, which then contains PING. */
function agree(seenHere: readonly Said[], sent: readonly Said[], about: string): void {
  const isOpen = seenHere.at(-1)?.role === 'user' && seenHere.length !== sent.length;
  expect(legible(withoutClosing(isOpen ? seenHere.slice(0, -1) : seenHere)), about).toBe(legible(sent));
}

function sessionOf(history: History, way: readonly number[], last: readonly Uint8Array[] = []): Uint8Array {
  let number = 0;
  return claudeCode.session(claudeCode.concat([...way.map((at) => delta(history, at)), ...last]), {
    sessionId: '22222222-2222-4222-8222-222222222222',
    newId: () => `33333333-3333-4333-8333-${String(number++).padStart(12, '0')}`,
    now: '2026-03-01T00:00:00.000Z' as Timestamp,
  });
}

/** Each delta written again from its entries, as edits do it. */
function writtenAgain({ planned }: History, way: readonly number[]): Uint8Array {
  const options = { newId: () => randomUUID(), now: '2026-03-01T00:00:00.000Z' as Timestamp };
  const deltas = way.map((at) => claudeCode.write(planned.commits[at]?.entries ?? [], options));
  return claudeCode.session(claudeCode.concat(deltas), { ...options, sessionId: '22222222-2222-4222-8222-222222222222' });
}

function checkTip(path: string): void {
  const history = historyOf(path);
  const way = lineage(history.planned, lastTip(history.planned));
  const original = sentFor(path);
  agree(seen(history, way), original, 'what the model saw');
  expect(legible(sentForBytes(sessionOf(history, way))), 'the whole chain, exported').toBe(legible(original));
  if (wantsAll) expect(legible(sentForBytes(writtenAgain(history, way))), 'every record of it written again').toBe(legible(original));
  const from = way.findLastIndex((at) => history.planned.commits[at]?.type === 'compaction');
  if (wantsAll && from > 0) expect(legible(sentForBytes(sessionOf(history, way.slice(from)))), 'from the last compaction on').toBe(legible(original));
}

/** Forks inside of commits, spread over the history. */
function checkForks(path: string, forks: number): void {
  const history = historyOf(path);
  for (let fork = 0; fork < forks; fork++) {
    const at = Math.floor(((fork + 0.4) / forks) * history.planned.commits.length);
    const commit = history.planned.commits[at];
    const visible = commit?.entries.filter(({ marks }) => !marks?.includes('hidden')) ?? [];
    const last = visible[Math.floor(visible.length * 0.6)];
    if (!commit || commit.type === 'compaction' || !last) continue;
    const before = lineage(history.planned, at).slice(0, -1);
    const cut = claudeCode.cut(delta(history, at), last.key);
    const sent = sentForBytes(sessionOf(history, before, [cut]));
    agree(seen(history, before, claudeCode.parse(cut).entries), sent, `${basename(path)} cut in commit ${at} after ${last.key}`);
  }
}

/** For each answer in the files, the history that Stemma gives for it is a request that the agent made. */
function checkCalls(projects: string, sessions: readonly string[], requests: string): void {
  const made = new Set(
    readdirSync(requests).flatMap((name) => {
      const { messages } = JSON.parse(readFileSync(join(requests, name), 'utf8')) as { messages?: never };
      return messages ? [legible(inWords(messages))] : [];
    }),
  );
  const answered = new Set<string>();
  for (const session of sessions) {
    const history = historyOf(join(projects, session));
    for (const [at, { entries, type }] of history.planned.commits.entries()) {
      if (type === 'compaction') continue;
      const before = lineage(history.planned, at).slice(0, -1);
      for (const [place, { role, messageId = '' }] of entries.entries()) {
        // A fork's file repeats answers after a compaction that they preceded. The origin's file has them first.
        if (role !== 'assistant' || !messageId.startsWith('msg_standin') || answered.has(messageId)) continue;
        answered.add(messageId);
        expect(made, `${session}: before ${messageId}`).toContain(legible(seen(history, before, entries.slice(0, place))));
      }
    }
  }
  expect(answered.size).toBeGreaterThan(5);
}

/** A sanitized sample with one line of each kind. Its calls have no ids, so nothing can be compared. */
const comparable = (path: string): boolean => !path.includes('subagents') && !path.includes('sanitized');
/** Each question to the agent takes a second or more, so the default run asks only four. */
const few = ['entire-f0c3dbdad0d8'];
const files = uncutCorpus().filter((path) => comparable(path) && (wantsAll || few.some((name) => basename(path).startsWith(name))));

describe.skipIf(!hasAgent('claude') || files.length === 0)(`[F14] the real agent${unlessHere('claude')}`, () => {
  for (const path of files) {
    test(`sends for ${basename(path)} what Stemma says that the model saw, and the same for its export`, { tags: 'long' }, () => checkTip(path));
    test(`sends for forks of ${basename(path)} the history up to there`, { tags: 'long' }, () => checkForks(path, wantsAll ? 6 : 1));
  }

  test.skipIf(!wantsAll)('agrees on what it writes today: rewinds, compactions, forks, subagents, interruptions', { timeout: 600_000 }, () => {
    for (const name of ['claude-tour', 'claude-troubles']) {
      const { sessions: projects, home } = liveRun('claude', name);
      const sessions = readdirSync(projects, { recursive: true })
        .map(String)
        .filter((file) => file.endsWith('.jsonl') && !file.includes('subagents'))
        // Older files first: origins before their forks.
        .sort((a, b) => statSync(join(projects, a)).birthtimeMs - statSync(join(projects, b)).birthtimeMs);
      expect(sessions.length).toBeGreaterThan(0);
      for (const session of sessions) checkTip(join(projects, session));
      checkCalls(projects, sessions, join(home, 'requests'));
    }
  });
});
