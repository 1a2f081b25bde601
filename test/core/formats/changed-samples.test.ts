// The samples of all agents with lines that stand twice, or with the members of each object in another order: they read as before.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/core/base/index.js';
import { contextEntries } from '../../../src/core/chain/index.js';
import { listSessions } from '../../../src/core/sessions/index.js';
import { usageCalls, usageSessions } from '../../support/counted.js';
import { importInto } from '../../support/imports.js';
import { some } from '../../support/long.js';
import { emptyChain, scratch } from '../../support/project.js';
import { reordered } from '../../support/reordered.js';

const fixtures = join(import.meta.dirname, '../../fixtures');
const maxBytes = 1_500_000;
const samples = readdirSync(fixtures, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(?:jsonl?|traj)$/.test(entry.name))
  .map((entry) => relative(fixtures, join(entry.parentPath, entry.name)))
  .filter((path) => readFileSync(join(fixtures, path)).length <= maxBytes)
  .sort();
const textOf = (sample: string): string => readFileSync(join(fixtures, sample), 'utf8');

/** What a person sees of a file: its sessions, their conversations, and what they counted. */
function read(name: string, text: string) {
  const path = join(scratch(), name);
  writeFileSync(path, text);
  const chain = emptyChain();
  const { skipped, notes } = importInto(chain, path);
  const { sessions } = listSessions(chain, {});
  const { calls, tokens, cost } = usageSessions(chain, { groupBy: null }).totals;
  const tips = sessions.flatMap((session) => session.tips);
  const seen = {
    sessions: sessions.map(({ agent, turns, branches }) => `${agent} ${turns} ${branches}`).sort(),
    counted: { calls, listed: usageCalls(chain, {}).total, tokens, cost: cost?.amount.toFixed(6) },
    said: tips
      .map((id) =>
        contextEntries(chain, { id, stop: 'root' })
          .filter(({ entry }) => !entry.marks?.includes('hidden'))
          .map(({ entry }) => `${entry.role} ${entry.kind} ${entry.toolName ?? ''} ${entry.text ?? ''}`),
      )
      .sort(),
  };
  return { seen, told: skipped.length + notes.length };
}

const before = new Map<string, ReturnType<typeof read>>();
function asItIs(sample: string): ReturnType<typeof read> {
  const seen = before.get(sample) ?? read(basename(sample), textOf(sample));
  before.set(sample, seen);
  return seen;
}

/** The result of a tool can show JSON as a text, which has its members in their order. */
const withoutOrder = ({ said, ...seen }: ReturnType<typeof read>['seen']) => ({
  ...seen,
  said: said.map((texts) => texts.map((text) => [...text].sort().join(''))),
});

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');
/** A record over several lines is broken by copies of its lines. */
const ofLines = samples.filter(
  (sample) => !sample.includes('raw-newline') && parseJson(textOf(sample)) === undefined && linesOf(textOf(sample)).length > 1,
);

/** Records without an id and a time: two equal ones in a row can be two, so that the last one twice is read twice. */
const withoutIds = /^(?:cursor\/agent-transcript-|droid\/letta-|codex-all-types)/;

const doubled: Readonly<Record<string, (lines: readonly string[]) => readonly string[]>> = {
  'each line twice': (lines) => lines.flatMap((line) => [line, line]),
  'its last line twice': (lines) => [...lines, ...lines.slice(-1)],
  'its last three lines twice': (lines) => [...lines, ...lines.slice(-3)],
  'the whole log twice': (lines) => [...lines, ...lines],
};

/** Claude Code reads the last of several equal records. So a queued prompt, which has no id, comes before all records of a second log. */
const isQueued = /^cases\/queue-absorbed/;

describe.each(Object.entries(doubled))('samples of all agents with %s', (what, change) => {
  const isLeftOut = what.startsWith('its last') ? withoutIds : what === 'the whole log twice' ? isQueued : /^$/;
  const known = ofLines.filter((sample) => !isLeftOut.test(sample));
  test.each(some(known, 8))('[N20] %s reads as before', (sample) => {
    const { seen, told } = read(basename(sample), `${change(linesOf(textOf(sample))).join('\n')}\n`);
    expect(seen).toEqual(asItIs(sample).seen);
    // Spans have ids, and a later export of one replaces it. Bookkeeping that says nothing is kept as it is.
    if (seen.sessions.length > 0 && !/^(?:otel|otlp|claude|usage|cases)/.test(sample) && what === 'each line twice')
      expect(told).toBeGreaterThan(asItIs(sample).told);
  });
});

test.each(some(samples, 12))('[N20] %s reads as before with members in another order', (sample) => {
  const { seen } = read(basename(sample), reordered(textOf(sample)));
  expect(withoutOrder(seen)).toEqual(withoutOrder(asItIs(sample).seen));
});
