import './page.js';
import { describe, expect, test } from 'vitest';
import { ansiRuns, commandOf } from '../../src/renderer/parts/Ansi.js';

const esc = '\u001b[';

describe('text of a terminal', () => {
  test('[W40] colors and weights become looks, and other codes are dropped', () => {
    expect(ansiRuns(`${esc}1;31mfailed${esc}0m 3 ${esc}32mpassed${esc}39m${esc}2K`)).toEqual([
      { text: 'failed', look: 'ansi-bold ansi-red' },
      { text: ' 3 ', look: '' },
      { text: 'passed', look: 'ansi-green' },
    ]);
    expect(ansiRuns(`${esc}38;5;196mred${esc}38;2;1;2;3mrgb${esc}1mbold`).map(({ look }) => look)).toEqual(['', '', 'ansi-bold']);
    expect(ansiRuns('plain')).toEqual([{ text: 'plain', look: '' }]);
  });

  test('[W40] a command shows what was typed, its output what was printed', () => {
    expect(commandOf('<command-message>review</command-message>')).toEqual({ kind: 'command', text: '/review' });
    expect(commandOf('<local-command-stdout>Bye!</local-command-stdout>')).toEqual({ kind: 'output', text: 'Bye!' });
    expect(commandOf('<local-command-caveat>The messages below were generated.</local-command-caveat>')).toEqual({
      kind: 'output',
      text: 'The messages below were generated.',
    });
    expect(commandOf('<div> is broken')).toBeUndefined();
  });
});
