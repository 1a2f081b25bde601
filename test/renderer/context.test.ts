import './page.js';
import { describe, expect, test } from 'vitest';
import { blockOfEntry, groupIntoBlocks, guessHeight, heightBefore } from '../../src/renderer/parts/blocks.js';
import { promptOf, seamsOf, turnsOf } from '../../src/renderer/views/context/blocks.js';
import { call, commit, outlineRow, result } from './make.js';

describe('the list of a context', () => {
  const rows = [
    outlineRow('p', 'user', 'text', { head: 'Fix it', prompt: true }),
    call('a'),
    call('b'),
    result('a'),
    result('b', { isError: true }),
    outlineRow('w', 'assistant', 'text'),
    call('c', { commit: commit(2) }),
  ];
  const blocks = groupIntoBlocks(rows);

  test('a call and its result are one block, also for parallel calls', () => {
    expect(blocks.map(({ first, result: at }) => [first, at])).toEqual([
      [0, undefined],
      [1, 3],
      [2, 4],
      [5, undefined],
      [6, null],
    ]);
  });

  test('every entry is in exactly one block', () => {
    const shown = blocks.flatMap(({ first, result: at }) => (at === undefined || at === null ? [first] : [first, at]));
    expect(shown.sort((a, b) => a - b)).toEqual(rows.map((_, n) => n));
  });

  test('a result without a call, or a second result, is a block of its own', () => {
    const odd = groupIntoBlocks([result('lost'), call('a'), result('a'), result('a')]);
    expect(odd.map(({ first, result: at }) => [first, at])).toEqual([
      [0, undefined],
      [1, 2],
      [3, undefined],
    ]);
  });

  test('an entry leads to the block that shows it, a result to its call', () => {
    expect(rows.map((_, n) => blockOfEntry(blocks, n))).toEqual([0, 1, 2, 1, 2, 3, 4]);
  });

  test('a list begins below the blocks before its entry; a result is where its call is', () => {
    const heights = blocks.map((block) => guessHeight(rows, block));
    expect(heightBefore(rows, blocks, 0)).toBe(0);
    expect(heightBefore(rows, blocks, 4)).toBe((heights[0] ?? 0) + (heights[1] ?? 0));
    expect(heightBefore(rows, blocks, 6)).toBe(heights.slice(0, 4).reduce((sum, height) => sum + height, 0));
  });

  test('turns are commits, named by the first words of the prompt', () => {
    expect(turnsOf(rows, blocks)).toMatchObject([
      { commit: commit(1), firstEntry: 0, firstBlock: 0, head: 'Fix it', errors: 1, tokens: 60 },
      { commit: commit(2), firstEntry: 6, firstBlock: 4, head: 'Bash', errors: 0 },
    ]);
  });

  test('[W32] a turn that begins with a reminder is landed on at its prompt', () => {
    const reminded = [
      outlineRow('r', 'user', 'text', { head: '<system-reminder>', commit: commit(3) }),
      outlineRow('p', 'user', 'text', { head: 'Fix it', prompt: true, commit: commit(3) }),
    ];
    expect(turnsOf(reminded, groupIntoBlocks(reminded))).toMatchObject([
      { firstEntry: 0, firstBlock: 0, promptEntry: 1, promptBlock: 1, head: 'Fix it' },
    ]);
  });

  test('the summary in the chain names a turn before its prompt does', () => {
    const summary = [outlineRow('s', 'user', 'summary', { head: 'This session is being continued' })];
    expect(turnsOf(summary, groupIntoBlocks(summary))).toMatchObject([{ head: 'Compaction summary', summary: true }]);
    expect(turnsOf(rows, blocks, new Map([[commit(1), 'A name given by hand']]))).toMatchObject([{ head: 'A name given by hand' }, { head: 'Bash' }]);
  });

  test('text that an agent wraps around a prompt is not the prompt', () => {
    expect(promptOf('<command-name>/compact</command-name> <command-message>')).toBe('/compact');
    expect(promptOf('<command-message>review</command-message>')).toBe('/review');
    expect(promptOf('<local-command-caveat>Caveat: The messages below')).toBeUndefined();
    expect(promptOf('<ide_opened_file>The user opened')).toBeUndefined();
    expect(promptOf('<div> is broken')).toBe('<div> is broken');
  });

  test('seams are at the places of summaries', () => {
    expect(seamsOf([outlineRow('s', 'user', 'summary'), ...rows, outlineRow('t', 'user', 'summary')])).toEqual([0, 8]);
  });
});
