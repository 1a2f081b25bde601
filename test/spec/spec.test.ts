import { describe, expect, test } from 'vitest';
import { filesBelow, isSource, nodesOf, parseSource, textAt } from '../support/source.js';
import { testNames } from '../support/test-names.js';

const rules = filesBelow('test/spec', (path) => path.endsWith('.md')).flatMap((path) =>
  [...textAt(path).matchAll(/^- \*\*([A-Z]-?\d+)\*\* /gm)].map((match) => match[1] ?? ''),
);

/** Rule numbers in test titles: `[C4]`, `[C4, C5] …`. */
const carried = filesBelow('test', (path) => isSource(path) && /\.(test|spec|e2e)\.tsx?$/.test(path))
  .map((path) => parseSource(path))
  .flatMap((source) => nodesOf(source.program).flatMap(testNames).flatMap(numbersIn));

function numbersIn(name: string): string[] {
  return [...name.matchAll(/\[([A-Z]-?\d+(?:, ?[A-Z]-?\d+)*)\]/g)].flatMap((match) => (match[1] ?? '').split(/, ?/));
}

describe('the spec', () => {
  test('each number has one rule', () => {
    expect(rules.filter((rule, place) => rules.indexOf(rule) !== place)).toEqual([]);
  });

  test('every rule has a test with its number in the title', () => {
    expect(rules.filter((rule) => !carried.includes(rule))).toEqual([]);
  });

  test('every number in a test title is a rule', () => {
    expect([...new Set(carried)].filter((rule) => !rules.includes(rule))).toEqual([]);
  });

  test('rule numbers are found in every way to write a test title', () => {
    const source = parseSource('any.test.ts', "test.skipIf(a)('[Z1] x', f); describe('y', () => it.each([1])(`[Z2, Z3] y`, f)); other('[Z4]');");
    expect(nodesOf(source.program).flatMap(testNames).flatMap(numbersIn).toSorted()).toEqual(['Z1', 'Z2', 'Z3']);
  });
});
