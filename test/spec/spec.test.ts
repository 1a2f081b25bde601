import { describe, expect, test } from 'vitest';
import { filesBelow, isNode, isSource, type Node, nodesOf, parseSource, textAt } from '../support/source.js';

const rules = filesBelow('test/spec', (path) => path.endsWith('.md')).flatMap((path) =>
  [...textAt(path).matchAll(/^- \*\*([A-Z]-?\d+)\*\* /gm)].map((match) => match[1] ?? ''),
);

/** Numbers that names of tests carry: `[C4]`, `[C4, C5] …`. */
const carried = filesBelow('test', (path) => isSource(path) && /\.(test|spec|e2e)\.tsx?$/.test(path))
  .map((path) => parseSource(path))
  .flatMap((source) => nodesOf(source.program).flatMap(testNames).flatMap(numbersIn));

/** The first argument of `test(…)`, `it(…)`, `describe(…)`, `test.each(…)(…)` and their like, where it is a text. */
function testNames(node: Node): string[] {
  if (node.type !== 'CallExpression' || !Array.isArray(node.arguments)) return [];
  const [name] = node.arguments as unknown[];
  if (!isNode(name) || !/^(test|it|describe)$/.test(calleeOf(node))) return [];
  if (name.type === 'Literal') return [String(name.value)];
  if (name.type !== 'TemplateLiteral' || !Array.isArray(name.quasis)) return [];
  return name.quasis.map((part: { value: { raw: string } }) => part.value.raw);
}

/** The name at the left end of what is called: `test` in `test.skipIf(x).each(y)`. */
function calleeOf(node: unknown): string {
  if (!isNode(node)) return '';
  return node.type === 'Identifier' ? String(node.name) : calleeOf(node.callee ?? node.object ?? node.tag);
}

function numbersIn(name: string): string[] {
  return [...name.matchAll(/\[([A-Z]-?\d+(?:, ?[A-Z]-?\d+)*)\]/g)].flatMap((match) => (match[1] ?? '').split(/, ?/));
}

describe('the spec', () => {
  test('no number stands for two rules', () => {
    expect(rules.filter((rule, place) => rules.indexOf(rule) !== place)).toEqual([]);
  });

  test('every rule is proved by a test that carries its number', () => {
    expect(rules.filter((rule) => !carried.includes(rule))).toEqual([]);
  });

  test('every number that a test carries is a rule', () => {
    expect([...new Set(carried)].filter((rule) => !rules.includes(rule))).toEqual([]);
  });

  test('numbers are found in the names of tests however they are written', () => {
    const source = parseSource('any.test.ts', "test.skipIf(a)('[Z1] x', f); describe('y', () => it.each([1])(`[Z2, Z3] y`, f)); other('[Z4]');");
    expect(nodesOf(source.program).flatMap(testNames).flatMap(numbersIn).toSorted()).toEqual(['Z1', 'Z2', 'Z3']);
  });
});
