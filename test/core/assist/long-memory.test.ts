import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { composedRows, composition } from '../../../src/core/assist/index.js';
import { longMemory } from '../../../src/core/assist/long-memory.js';
import { atOnce, type ContextId } from '../../../src/core/base/index.js';
import {
  type ContextRow,
  deltaKey,
  entries,
  findCommit,
  lineage,
  readOutline,
  type Step,
  saveFact,
  tips,
  type WriteChain,
} from '../../../src/core/chain/index.js';
import { compareMessages, recordedLayers, shownRow, sumMemory } from '../../../src/core/composer/index.js';
import type { InputOf } from '../../../src/core/contract/index.js';
import { pairedCalls } from '../../../src/core/formats/index.js';
import { importPaths } from '../../../src/core/import/index.js';
import { session } from '../../support/counted-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, emptyProject, scratch } from '../../support/project.js';
import { countingReads } from '../../support/reads.js';

const fixtures = join(import.meta.dirname, '../../fixtures');

/** Compares the sums and the pages of a context with its whole memory. Returns whether the context can be read so. */
function compareWithWhole(chain: WriteChain, tip: ContextRow): boolean {
  const long = longMemory(chain, tip, 1);
  if (!long) return false;
  const { memory, ...layers } = recordedLayers(pairedCalls(entries(chain, { id: tip.id }).entries));
  const { memory: prompt, whole, ...others } = long.recorded;
  expect(others).toEqual(layers);
  expect(memory).toContainEqual(prompt[0]);
  const commits = [...new Set(memory.flatMap(({ from }) => from.map(({ source }) => source.commit)))];
  expect(whole).toEqual({ ...sumMemory(memory), commits });
  expect(long.slice(0, memory.length)).toEqual(memory);
  for (let from = 0; from < memory.length; from += 7) expect(long.slice(from, from + 9)).toEqual(memory.slice(from, from + 9));
  return true;
}

test('sums and pages of memory equal the whole, in every history', { tags: 'long' }, () => {
  let [compared, apart] = [0, 0];
  const granularities = ['turn_boundary', 'tool_call'] as const;
  for (const [name, granularity] of readdirSync(fixtures).flatMap((name) => granularities.map((each) => [name, each] as const))) {
    const chain = emptyChain();
    try {
      atOnce(importPaths(chain, { paths: [join(fixtures, name)], granularity }));
    } catch {
      continue;
    }
    for (const { id } of tips(chain, {})) {
      if (compareWithWhole(chain, findCommit(chain, id))) compared += 1;
      else apart += 1;
    }
  }
  expect([compared > 150, apart < compared]).toEqual([true, true]);
});

test('a context with more messages than an answer holds is refused before it is read', () => {
  const { chain, dir } = emptyProject();
  const path = join(scratch(), 'long.jsonl');
  writeFileSync(path, session('long', 90).join(''));
  importInto(chain, path);
  const id = tips(chain, {})[0]?.id as ContextId;
  const middle = lineage(chain, findCommit(chain, id))[40] as Step;
  const { messages } = composition({ chain, dir }, { id });
  composedRows({ chain, dir }, { id }, {});
  for (const offer of chain.offers) if (offer.kind === 'fact') saveFact(chain, offer);
  chain.db.run("UPDATE deltaFact SET data = json_set(data, '$.messages', 200000) WHERE name = 'remembered' AND artifact = ?", middle.artifact);
  // Few entries are no more messages, whatever the facts say.
  expect(composition({ chain, dir }, { id }).messages).toEqual(messages);

  const outline = readOutline(chain, middle);
  const many = { ...outline, entries: Array.from({ length: 100_001 }, () => outline.entries[0] as (typeof outline.entries)[0]) };
  const get: typeof chain.outlines.get = (name) => (name === deltaKey(middle) ? many : chain.outlines.get(name));
  const { chain: counted, reads } = countingReads(chain);
  const large = { ...counted, outlines: { ...chain.outlines, get } };
  expect(() => composition({ chain: large, dir }, { id })).toThrow(expect.objectContaining({ code: 'BAD_REQUEST', data: { field: 'id' } }));
  expect(reads.objects).toBeLessThan(10);
});

test('pages of a long composition equal those of the whole one', { tags: 'long' }, () => {
  const { chain, dir } = emptyProject();
  const path = join(scratch(), 'long.jsonl');
  writeFileSync(path, session('long', 90).join(''));
  importInto(chain, path);
  const id = tips(chain, {})[0]?.id as ContextId;
  const place = { chain, dir };
  const requests: Omit<InputOf<'compose.preview'>, 'id'>[] = [
    {},
    { systemPrompt: 'Be brief.' },
    { process: 'mapreduce-worker' },
    { query: 'And now?', contexts: { further__context: 'More.' } },
    { humanMessage: 'Once.' },
    { layers: ['todo'] },
  ];
  const recorded = composition(place, { id });
  for (const request of requests) {
    const now = composition(place, { id, ...request });
    const rows = compareMessages(recorded.messages, now.messages).map((row) => shownRow(row, now, 50));
    expect(rows.length).toBeGreaterThan(90);
    const first = composedRows(place, { id, ...request }, { limit: 7, longest: 50 });
    expect(first).toMatchObject({
      total: rows.length,
      messages: now.messages.length,
      tokens: now.messages.reduce((sum, { tokens }) => sum + tokens, 0),
      added: rows.filter(({ change }) => change === 'new').length,
      removed: rows.filter(({ change }) => change === 'gone').length,
      firstChange: rows.findIndex(({ change }) => change !== 'same'),
      layers: now.layers,
      dropped: now.dropped,
    });
    for (let offset = 0; offset < rows.length; offset += 7) {
      const page = composedRows(place, { id, ...request }, { offset, limit: 9, longest: 50 });
      expect(page.rows).toEqual(rows.slice(offset, offset + 9));
    }
  }
});
