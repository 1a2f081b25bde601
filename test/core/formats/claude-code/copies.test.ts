import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entries, history, tips, type WriteChain } from '../../../../src/core/chain/index.js';
import { namedFile } from '../../../../src/core/files/index.js';
import { importGrowth } from '../../../../src/core/follow/index.js';
import { answer, prompt } from '../../../support/claude-lines.js';
import { importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';

/** A history that an older version copied under new ids: the answer keeps its message id, and its end differs each time. */
const copy = (n: number): string =>
  [
    prompt(`u${n}`, 'do it'),
    answer(`a${n}`, `done, as told ${n}`, { parent: `u${n}` }).replace(`msg_a${n}`, 'msg_same'),
    prompt(`v${n}`, `and then ${n}`, { parent: `a${n}` }),
    answer(`b${n}`, `then ${n}`, { parent: `v${n}` }),
  ]
    .map((line) => line.replace('"model":"m"', '"model":"m","stop_reason":"end_turn"'))
    .join('');

const shown = (chain: WriteChain) =>
  tips(chain, {})
    .map(({ id }) =>
      history(chain, id).map((commit) => [
        commit.summary,
        entries(chain, { id: commit.id, stop: commit.id }).entries.map(({ key, text }) => [key, text]),
      ]),
    )
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

test('[L2] copied answers make the same chain, imported line by line or at once', () => {
  const name = '11111111-1111-4111-8111-111111111111.jsonl';
  const copies = [1, 2, 3].map(copy);
  const live = emptyChain();
  const path = join(scratch(), name);
  writeFileSync(path, '');
  for (const lines of copies) {
    appendFileSync(path, lines);
    expect(importGrowth(live, namedFile(path), { what: 'settled', granularity: 'turn_boundary' }).commits).toBeGreaterThan(0);
  }
  const whole = emptyChain();
  const at = join(scratch(), name);
  writeFileSync(at, copies.join(''));
  importInto(whole, at);
  expect(shown(live)).toEqual(shown(whole));
  // The agent gathers the records of an answer from the whole file, so the last copy is sent with those before it.
  const said = tips(live, {}).map(({ id }) => entries(live, { id }).entries.flatMap(({ text }) => (text?.startsWith('done') ? [text] : [])));
  expect(said.map((texts) => texts.toSorted())).toContainEqual(['done, as told 1', 'done, as told 2', 'done, as told 3']);
});
