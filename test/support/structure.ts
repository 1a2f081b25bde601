import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { identifier, isNode, lineAt, type Node, nodesOf, root, type Source } from './source.js';

/** A function and how long it is, counted in lines from its first to its last. */
export interface FunctionSize {
  readonly file: string;
  readonly name: string;
  readonly line: number;
  readonly lines: number;
  /** The comment directly above the function, or the first comment inside it, gives a reason for its length. */
  readonly explained: boolean;
}

/** The file that a relative import names, as a path from the repository root; undefined where no such file exists. */
export function resolveFile(file: string, request: string): string | undefined {
  const path = join(dirname(file), request.replace(/\?.*$/, '')).replaceAll('\\', '/');
  const stem = path.replace(/\.js$/, '');
  return [path, `${stem}.ts`, `${stem}.tsx`, `${stem}.d.ts`, `${stem}/index.ts`].find(
    (candidate) => /\.\w+$/.test(candidate) && existsSync(join(root, candidate)),
  );
}

/** Import cycles between files, type-only imports included: each strongly connected group of two or more files, sorted. */
export function importCycles(sources: readonly Source[]): string[][] {
  const targets = new Map(
    sources.map(({ path, requests }) => [
      path,
      requests.flatMap((request) => (request.startsWith('.') ? (resolveFile(path, request) ?? []) : [])).filter((target) => target !== path),
    ]),
  );
  return stronglyConnected(targets).filter((group) => group.length > 1);
}

/** Tarjan's algorithm. */
function stronglyConnected(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];
  const lowOf = (node: string): number => low.get(node) ?? 0;
  const visit = (node: string): void => {
    order.set(node, order.size);
    low.set(node, order.size - 1);
    stack.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!edges.has(next)) continue;
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(lowOf(node), lowOf(next)));
    }
    if (lowOf(node) !== order.get(node)) return;
    groups.push(stack.splice(stack.indexOf(node)).sort());
  };
  for (const node of edges.keys()) if (!order.has(node)) visit(node);
  return groups;
}

const functionTypes = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

/** Every function of a file with its length. Nested functions count on their own and as part of the outer one. */
export function functionSizes(source: Source): FunctionSize[] {
  const names = new Map<Node, string>();
  for (const node of nodesOf(source.program)) {
    const name = identifier(node.id) ?? identifier(node.key) ?? identifier(node.left);
    for (const value of [node.init, node.value, node.right]) if (name && isNode(value)) names.set(value, name);
  }
  return nodesOf(source.program).flatMap((node) => {
    if (!functionTypes.includes(node.type)) return [];
    const line = lineAt(source.text, node.start);
    const lines = lineAt(source.text, Number(node.end)) - line + 1;
    const name = identifier(node.id) ?? names.get(node) ?? '(anonymous)';
    return [{ file: source.path, name, line, lines, explained: /\bLong because\b/.test(aroundTop(source.text, node)) }];
  });
}

/** The text from the comment above a function to a few lines into it. */
function aroundTop(text: string, node: Node): string {
  const above = text.slice(Math.max(0, node.start - 600), node.start);
  const comment = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/[^;{}]*$/.exec(above)?.[0] ?? '';
  return comment + text.slice(node.start, node.start + 400);
}

/** Exported functions and constants without a docstring, as `file: name`. Types document themselves by their fields. */
export function undocumentedExports(source: Source): string[] {
  const body = Array.isArray(source.program.body) ? (source.program.body as unknown[]).filter(isNode) : [];
  return body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration' || !isNode(statement.declaration)) return [];
    const declared = namesOfFunctions(statement.declaration);
    if (declared.length === 0 || hasDocstring(source.text, statement.start)) return [];
    return declared.map((name) => `${source.path}: ${name}`);
  });
}

function namesOfFunctions(declaration: Node): string[] {
  if (declaration.type === 'FunctionDeclaration') return [identifier(declaration.id) ?? '(default)'];
  if (declaration.type !== 'VariableDeclaration' || !Array.isArray(declaration.declarations)) return [];
  return (declaration.declarations as Node[]).flatMap((one) =>
    isNode(one.init) && functionTypes.includes(one.init.type) ? (identifier(one.id) ?? []) : [],
  );
}

const hasDocstring = (text: string, at: number): boolean => /\*\/\s*$/.test(text.slice(0, at));

/** Exported types with more than one declaration: one name has one meaning. */
export function typesDeclaredTwice(sources: readonly Source[]): string[] {
  const places = new Map<string, Set<string>>();
  for (const { path, program } of sources)
    for (const node of nodesOf(program)) {
      const { type, id } = (node.type === 'ExportNamedDeclaration' ? (node.declaration ?? {}) : {}) as { type?: string; id?: { name: string } };
      if (!id || !/^(?:TSInterface|TSTypeAlias|TSEnum|Class)Declaration$/.test(type ?? '')) continue;
      places.set(id.name, (places.get(id.name) ?? new Set()).add(path));
    }
  return [...places].flatMap(([name, paths]) => (paths.size > 1 ? [`${name}: ${[...paths].join(', ')}`] : []));
}
