import './page.js';
import { describe, expect, test } from 'vitest';
import { bytes, compact, day, duration, excerpt, firstLine, money, percent, plural, tokens, when } from '../../src/renderer/parts/numbers.js';

test('[N6] money has its currency, more digits where it is small, and the sign of a lower bound', () => {
  const shown = [0, 0.0042, 0.038, 0.5, 12.345].map((amount) => money({ amount, currency: 'USD' }));
  expect(shown).toEqual(['$0.00', '$0.0042', '$0.038', '$0.50', '$12.35']);
  expect([money({ amount: 0.5, currency: 'USD', atLeast: true }), money({ amount: 0.5, currency: 'EUR' })]).toEqual(['≥ $0.50', '€0.50']);
});

describe('numbers as text', () => {
  test.each([
    [0, '0'],
    [999, '999'],
    [1_000, '1k'],
    [9_810, '9.81k'],
    [12_400, '12.4k'],
    [100_400, '100k'],
    [214_000, '214k'],
    [999_499, '999k'],
    [999_500, '1M'],
    [1_234_567, '1.23M'],
  ])('%d is %s', (n, said) => expect(compact(n)).toBe(said));

  test.each([
    [0, '0%'],
    [0.004, '< 1%'],
    [0.31, '31%'],
    [0.994, '99%'],
    [0.999, '> 99%'],
    [1, '100%'],
  ])('a share of %d is %s', (share, said) => expect(percent(share)).toBe(said));

  test('token counts are marked as estimates', () => expect(tokens(12_400)).toBe('≈ 12.4k tok'));

  test.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1 kB'],
    [18_400_000, '18.4 MB'],
    [812_000_000, '812 MB'],
    [999_600, '1 MB'],
  ])('%d bytes are %s', (n, said) => expect(bytes(n)).toBe(said));

  test('one has the singular', () => {
    expect(plural(1, 'entry', 'entries')).toBe('1 entry');
    expect(plural(1_284, 'commit')).toBe('1,284 commits');
  });

  test('dates are relative where that is shorter, and missing dates stay missing', () => {
    const now = new Date(2026, 10, 21, 15, 0);
    expect(when(new Date(2026, 10, 21, 14, 2).toISOString(), now)).toBe('14:02');
    expect(when(new Date(2026, 10, 20, 23, 59).toISOString(), now)).toBe('Yesterday 23:59');
    expect(when(new Date(2026, 1, 3, 6, 5).toISOString(), now)).toBe('3 Feb 06:05');
    expect(when(new Date(2024, 1, 3, 6, 5).toISOString(), now)).toBe('3 Feb 2024');
    expect(when('not a date', now)).toBe('no date');
    expect(day('', now)).toBe('No date');
  });

  test('durations have a readable unit', () => {
    expect([12, 3_240, 75_000].map(duration)).toEqual(['12 ms', '3.2 s', '1 min 15 s']);
    expect([999.7, 59_970, 119_800, 3_599_800].map(duration)).toEqual(['1.0 s', '1 min', '2 min', '1 h']);
    expect([5_040_000, 69_000_000, 86_399_000, 187_200_000].map(duration)).toEqual(['1 h 24 min', '19 h 10 min', '1 d', '2 d 4 h']);
  });

  test('an excerpt of a reply is plain words, and says where it was cut', () => {
    expect(excerpt('It is in `CHANGELOG.md`. The words *are* new.')).toBe('It is in CHANGELOG.md. The words are new.');
    expect(excerpt('Lined up: ``` Yeast 0 Milk 2 ``` Done.')).toBe('Lined up: Yeast 0 Milk 2 Done.');
    const cut = `${'word '.repeat(23)}and \`Infin`.slice(0, 120);
    expect(excerpt(cut.padEnd(120, 'i'))).toBe(`${'word '.repeat(23)}and…`);
  });

  test('a long first line is cut', () => {
    expect(firstLine('\n\n  one\ntwo')).toBe('one');
    expect(firstLine('```ts\n## **Plan:** run `npm test` in [the house](docs/house.md)\nthen')).toBe('Plan: run npm test in the house');
    expect(firstLine('> 1. quoted\n')).toBe('quoted');
    expect(firstLine('---\n\n2 * 3 ** 4, __init__ and a `tick')).toBe('2 * 3 ** 4, __init__ and a `tick');
    expect(firstLine('```')).toBe('```');
    expect(firstLine('')).toBe('');
    expect(firstLine('x'.repeat(300), 10)).toBe(`${'x'.repeat(10)}…`);
  });
});
