import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { isObject, type JsonObject, parseJson } from '../../../src/core/base/index.js';
import { loadPrices } from '../../../src/core/usage/index.js';
import { usageCalls, usageSessions } from '../../support/counted.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';

/**
 * The calls, tokens and cost of real sessions. `ledgers.json` holds those of whole sessions too, which are not in the repository: they are read from
 * the folder TRANSCRIPTS if it is set. UPDATE_LEDGERS=1 writes the file.
 */
interface Ledger {
  readonly calls: number;
  /** What the model read: input, cache reads and cache writes. */
  readonly input: number;
  readonly cacheRead: number;
  readonly output: number;
  /** In US dollars, rounded to a hundredth of a cent. */
  readonly cost: number | null;
}

beforeAll(() => loadPrices());

const table = join(import.meta.dirname, 'ledgers.json');
const ledgers = JSON.parse(readFileSync(table, 'utf8')) as Record<string, Ledger>;
const folders = [join(import.meta.dirname, '../../fixtures'), ...(process.env.TRANSCRIPTS ?? '').split(':').filter((one) => one !== '')];
const found = Object.keys(ledgers).flatMap((name) => {
  const path = folders.map((folder) => join(folder, name)).find((one) => existsSync(one));
  return path === undefined ? [] : [[name, path] as const];
});

function ledgerOf(path: string): Ledger {
  const chain = emptyChain();
  importInto(chain, path);
  const { tokens, cost } = usageSessions(chain, { groupBy: null }).totals;
  return {
    calls: usageCalls(chain, {}).total,
    input: tokens.input + tokens.cacheRead + tokens.cacheWrite,
    cacheRead: tokens.cacheRead,
    output: tokens.output,
    cost: cost && Math.round(cost.amount * 10_000) / 10_000,
  };
}

const recordsOf = (path: string): JsonObject[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const record = parseJson(line);
      return isObject(record) ? [record] : [];
    });

type Counts = Pick<Ledger, 'input' | 'cacheRead' | 'output'>;
const numberIn = (value: unknown, name: string): number => (isObject(value) && typeof value[name] === 'number' ? value[name] : 0);

/** The last sums that Codex wrote. */
function codexCounts(path: string): Counts {
  const sums = recordsOf(path).flatMap(({ payload }) =>
    isObject(payload) && isObject(payload.info) && isObject(payload.info.total_token_usage) ? [payload.info.total_token_usage] : [],
  );
  const last = sums.at(-1);
  return { input: numberIn(last, 'input_tokens'), cacheRead: numberIn(last, 'cached_input_tokens'), output: numberIn(last, 'output_tokens') };
}

/**
 * The counts of each message of Claude Code once. A reply has no output count if each of its lines was written while it streamed: with no reason to stop
 * and the count of the first line.
 */
function claudeCounts(path: string): Counts & { readonly calls: number } {
  const replies = new Map<string, { usage: unknown; readonly first: number; output: number; isFinal: boolean }>();
  for (const { message } of recordsOf(path)) {
    if (!isObject(message) || !isObject(message.usage) || message.model === '<synthetic>') continue;
    const output = numberIn(message.usage, 'output_tokens');
    const reply = replies.get(String(message.id)) ?? { usage: message.usage, first: output, output, isFinal: false };
    replies.set(String(message.id), reply);
    Object.assign(reply, { usage: message.usage, output });
    reply.isFinal ||= message.stop_reason !== null || output > reply.first;
  }
  const all = [...replies.values()];
  const sum = (...names: string[]): number =>
    all.reduce((total, { usage }) => total + names.reduce((own, name) => own + numberIn(usage, name), 0), 0);
  return {
    calls: all.length,
    input: sum('input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'),
    cacheRead: sum('cache_read_input_tokens'),
    output: all.reduce((total, { output, isFinal }) => total + (isFinal ? output : 0), 0),
  };
}

test.each(found)('[N21] the ledger of %s', (name, path) => {
  const ledger = ledgerOf(path);
  if (process.env.UPDATE_LEDGERS) {
    ledgers[name] = ledger;
    writeFileSync(table, `${JSON.stringify(ledgers, null, 1)}\n`);
  }
  expect(ledger).toEqual(ledgers[name]);
  expect(ledger).toMatchObject(name.startsWith('codex') ? codexCounts(path) : claudeCounts(path));
});

test('[N21] the ledgers of the files of the repository are checked', () => {
  expect(found.length).toBeGreaterThanOrEqual(12);
});
