import { describe, expect, test } from 'vitest';
import { filesBelow, identifier, isSource, lineAt, memberName, type Node, nodesOf, parseSource, type Source } from '../support/source.js';

/** Folders and files whose functions take values and return values: no I/O, no clock, no randomness. */
const pure = [
  'src/core/base',
  'src/core/contract',
  'src/core/formats',
  'src/core/composer',
  'src/core/timeline/render',
  'src/core/diff',
  'src/core/chain/graph',
];

/** What of Node gives the same for the same. */
const harmless = /^node:(buffer \w+|crypto (createHash|hash)|zlib (constants|zstdDecompressSync))$/;

/** The engine reads no environment, prints nothing, and has one source of time. */
const closedToCore = ['process', 'console', 'window', 'document', 'fetch', 'localStorage', 'XMLHttpRequest'];
const chance = ['Date.now', 'Math.random', 'performance.now', 'crypto.randomUUID', 'crypto.getRandomValues'];

/** Where a rule is broken on purpose: the one place for it, with the reason. */
const exemptions: readonly { readonly file: string; readonly what: string; readonly because: string }[] = [
  { file: 'src/core/base/clock.ts', what: 'Date.now', because: 'it is the one source of time' },
];

const core = filesBelow('src/core', isSource).map((path) => parseSource(path));
const isPure = (path: string): boolean => pure.some((place) => path.startsWith(`${place}/`) || path === `${place}.ts`);

interface Find {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

/** Uses of the forbidden globals and calls, and `new Date()` of no instant. */
function impurities(source: Source): Find[] {
  const nodes = nodesOf(source.program);
  const at = (node: Node, what: string): Find => ({ file: source.path, line: lineAt(source.text, node.start), what });
  const own = new Set(nodes.flatMap(declaredNames));
  return nodes.flatMap((node) => {
    const member = memberName(node);
    if (member && chance.includes(member)) return [at(node, member)];
    if (node.type === 'MemberExpression' || node.type === 'CallExpression') {
      const name = identifier(node.object ?? node.callee);
      if (name && closedToCore.includes(name) && !own.has(name)) return [at(node, name)];
    }
    if (node.type === 'NewExpression' && identifier(node.callee) === 'Date' && Array.isArray(node.arguments) && node.arguments.length === 0)
      return [at(node, 'new Date()')];
    return [];
  });
}

/** Names that the file declares itself: a parameter called `document` is no window's. */
function declaredNames(node: Node): string[] {
  const bound = [node.type === 'VariableDeclarator' || node.type === 'FunctionDeclaration' ? node.id : undefined, node.local];
  const parameters = Array.isArray(node.params) ? node.params : [];
  return [...bound, ...parameters].flatMap((pattern) => identifier(pattern) ?? []);
}

const exempted = (find: Find): boolean => exemptions.some((one) => one.file === find.file && one.what === find.what);
const inWords = (find: Find): string => `${find.file}:${find.line} ${find.what}`;

describe('purity', () => {
  const finds = core.flatMap(impurities);

  test('core reads no environment, prints nothing, and takes time and chance from one source each', () => {
    expect(finds.filter((find) => !exempted(find)).map(inWords)).toEqual([]);
  });

  test('pure folders take nothing of Node but bytes, hashes and what unpacks bytes', () => {
    const taken = core.filter((source) => isPure(source.path)).flatMap((source) => source.names.map((name) => ({ name, path: source.path })));
    expect(taken.filter(({ name }) => name.startsWith('node:') && !harmless.test(name))).toEqual([]);
  });

  test('every exemption is needed', () => {
    expect(exemptions.filter((one) => !finds.some((find) => find.file === one.file && find.what === one.what))).toEqual([]);
  });

  test('what it checks can fail', () => {
    const guilty = parseSource('guilty.ts', "const t = Date.now() + Math.random(); new Date(); process.env.HOME; console.log(t); fetch('x');");
    expect(impurities(guilty).map((find) => find.what)).toEqual(['Date.now', 'Math.random', 'new Date()', 'process', 'console', 'fetch']);
    expect(impurities(parseSource('clean.ts', 'export const of = (document: { id: string }, at: number) => [document.id, new Date(at)];'))).toEqual(
      [],
    );
  });
});
