import { isNode, type Node } from './source.js';

/** The title of `test(…)`, `it(…)`, `describe(…)`, `test.each(…)(…)` and the like, where the node is such a call; else an empty list. */
export function testNames(node: Node): string[] {
  if (node.type !== 'CallExpression' || !Array.isArray(node.arguments)) return [];
  const [name] = node.arguments as unknown[];
  if (!isNode(name) || !/^(test|it|describe)$/.test(calleeOf(node))) return [];
  if (name.type === 'Literal') return [String(name.value)];
  if (name.type !== 'TemplateLiteral' || !Array.isArray(name.quasis)) return [];
  return name.quasis.map((part: { value: { raw: string } }) => part.value.raw);
}

/** The name at the left end of a callee: `test` in `test.skipIf(x).each(y)`. */
function calleeOf(node: unknown): string {
  if (!isNode(node)) return '';
  return node.type === 'Identifier' ? String(node.name) : calleeOf(node.callee ?? node.object ?? node.tag);
}
