import { describe, expect, test } from 'vitest';
import { filesBelow, identifier, isSource, lineAt, memberName, type Node, nodesOf, parseSource, type Source } from '../support/source.js';

/** The one place that writes to standard output and standard error. */
const printer = 'src/main/terminal/output.ts';

/** Files that write there in another way, each with the reason why no text of a transcript reaches a terminal through it. */
const exemptions: readonly { readonly file: string; readonly what: string; readonly because: string }[] = [
  { file: 'src/main/start/index.ts', what: 'console', because: 'it runs before the first build and prints only its own sentences' },
  { file: 'src/main/start/index.ts', what: 'inherit', because: 'the build and the app print for themselves, through the printer' },
  { file: 'src/main/system/start.ts', what: 'inherit', because: 'the streams of the command that the person started are its own' },
  { file: 'src/main/start/release.ts', what: 'console', because: 'it runs where releases are made, without a build' },
  { file: 'src/main/electron/engine-host.ts', what: 'inherit', because: 'the engine prints through the printer' },
  { file: 'src/main/mcp/server.ts', what: 'StdioServerTransport', because: 'standard output carries the protocol to a program' },
];

interface Find {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

/** Everything by which a file can write to its standard streams. */
function writers(source: Source): Find[] {
  const at = (node: Node, what: string): Find => ({ file: source.path, line: lineAt(source.text, node.start), what });
  const imported = source.names.filter((name) => /^(node:)?(process|console) /.test(name)).map((what) => ({ file: source.path, line: 1, what }));
  const found = nodesOf(source.program).flatMap((node) => {
    const member = memberName(node);
    if (member === 'process.stdout' || member === 'process.stderr' || member === 'process.emitWarning') return [at(node, member)];
    if (member?.startsWith('console.')) return [at(node, 'console')];
    if (node.type === 'Literal' && node.value === 'inherit') return [at(node, 'inherit')];
    if (node.type === 'NewExpression' && identifier(node.callee) === 'StdioServerTransport') return [at(node, 'StdioServerTransport')];
    const first = Array.isArray(node.arguments) ? (node.arguments[0] as Node | undefined) : undefined;
    const callee = identifier(node.callee) ?? '';
    return /^(writeSync|write|writeFileSync|appendFileSync)$/.test(callee) && (first?.value === 1 || first?.value === 2) ? [at(node, callee)] : [];
  });
  return [...imported, ...found];
}

describe('output', () => {
  const finds = filesBelow('src', isSource)
    .filter((path) => path !== printer)
    .flatMap((path) => writers(parseSource(path)));
  const isExempt = (find: Find): boolean => exemptions.some(({ file, what }) => file === find.file && what === find.what);

  test('[T50] only the printer writes to standard output and standard error', () => {
    expect(finds.filter((find) => !isExempt(find)).map(({ file, line, what }) => `${file}:${line} ${what}`)).toEqual([]);
  });

  test('every exemption is needed', () => {
    expect(exemptions.filter(({ file, what }) => !finds.some((find) => find.file === file && find.what === what))).toEqual([]);
  });

  test('these checks can fail', () => {
    const guilty = `import { stdout } from 'node:process';
      process.stdout.write(x); process['stderr'].write(x); console.log(x); writeSync(1, x); spawn('a', [], { stdio: 'inherit' });`;
    const found = writers(parseSource('guilty.ts', guilty)).map(({ what }) => what);
    expect(found.toSorted()).toEqual(['console', 'inherit', 'node:process stdout', 'process.stderr', 'process.stdout', 'writeSync']);
  });
});
