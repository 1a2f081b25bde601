import { describe, expect, test } from 'vitest';
import { filesBelow, identifier, isSource, lineAt, memberName, type Node, nodesOf, parseSource, type Source } from '../support/source.js';

/** Pure folders and files: no I/O, no clock, no randomness. */
const pure = [
  'src/core/base',
  'src/core/contract',
  'src/core/formats',
  'src/core/composer',
  'src/core/timeline/render',
  'src/core/diff',
  'src/core/chain/lanes',
];

/** Deterministic modules of Node. */
const harmless = /^node:(buffer \w+|crypto (createHash|hash)|zlib (constants|crc32|deflateRawSync|inflateRawSync|zstdDecompressSync))$/;

/** Globals that core may not use: it reads no environment, prints nothing, and has one source of time. */
const closedToCore = ['process', 'console', 'window', 'document', 'fetch', 'localStorage', 'XMLHttpRequest'];
const chance = ['Date.now', 'Math.random', 'performance.now', 'crypto.randomUUID', 'crypto.getRandomValues'];

/** Exceptions, each with its reason. */
const exemptions: readonly { readonly file: string; readonly what: string; readonly because: string }[] = [
  { file: 'src/core/base/clock.ts', what: 'Date.now', because: 'it is the one source of time' },
  { file: 'src/core/files/private.ts', what: 'process', because: 'only files of this user are made private' },
  { file: 'src/core/system/system.ts', what: 'process', because: 'it is the one place that asks which system this is' },
  { file: 'src/core/files/temporary.ts', what: 'process', because: 'a temporary folder names its process, so that others see whether it has ended' },
];

const core = filesBelow('src/core', isSource).map((path) => parseSource(path));
const isPure = (path: string): boolean => pure.some((place) => path.startsWith(`${place}/`) || path === `${place}.ts`);

interface Find {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

/** Uses of forbidden globals and calls, and of `new Date()` without an argument. */
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

/** Names that the file declares itself, such as a parameter `document`. */
function declaredNames(node: Node): string[] {
  const bound = [node.type === 'VariableDeclarator' || node.type === 'FunctionDeclaration' ? node.id : undefined, node.local];
  const parameters = Array.isArray(node.params) ? node.params : [];
  return [...bound, ...parameters].flatMap((pattern) => identifier(pattern) ?? []);
}

const exempted = (find: Find): boolean => exemptions.some((one) => one.file === find.file && one.what === find.what);
const inWords = (find: Find): string => `${find.file}:${find.line} ${find.what}`;

describe('purity', () => {
  const finds = core.flatMap(impurities);

  test('core reads no environment, prints nothing, and has one source of time and of randomness', () => {
    expect(finds.filter((find) => !exempted(find)).map(inWords)).toEqual([]);
  });

  test('pure folders use only deterministic modules of Node', () => {
    const taken = core.filter((source) => isPure(source.path)).flatMap((source) => source.names.map((name) => ({ name, path: source.path })));
    expect(taken.filter(({ name }) => name.startsWith('node:') && !harmless.test(name))).toEqual([]);
  });

  test('every exemption is needed', () => {
    expect(exemptions.filter((one) => !finds.some((find) => find.file === one.file && find.what === one.what))).toEqual([]);
  });

  test('these checks can fail', () => {
    const guilty = parseSource('guilty.ts', "const t = Date.now() + Math.random(); new Date(); process.env.HOME; console.log(t); fetch('x');");
    expect(impurities(guilty).map((find) => find.what)).toEqual(['Date.now', 'Math.random', 'new Date()', 'process', 'console', 'fetch']);
    expect(impurities(parseSource('clean.ts', 'export const of = (document: { id: string }, at: number) => [document.id, new Date(at)];'))).toEqual(
      [],
    );
  });
});
