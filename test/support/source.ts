import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';

/** The repository's root folder. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Paths of the files below a folder, relative to the root, with `/` between names, sorted. */
export function filesBelow(folder: string, wanted: (path: string) => boolean = () => true): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((item) => item.isFile())
    .map((item) => relative(root, join(item.parentPath, item.name)).replaceAll('\\', '/'))
    .filter((path) => !path.split('/').includes('node_modules') && wanted(path))
    .sort();
}

export const isSource = (path: string): boolean => /\.[cm]?tsx?$/.test(path);
export const textAt = (path: string): string => readFileSync(join(root, path), 'utf8');

/** A node of the syntax tree. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

export interface Source {
  readonly path: string;
  readonly text: string;
  readonly program: Node;
  /** Comments without their marks, with their offsets. */
  readonly comments: readonly { readonly start: number; readonly text: string }[];
  /** Modules that the file imports, re-exports or loads, as written. */
  readonly requests: readonly string[];
  /** Names of static imports, as `module name`. */
  readonly names: readonly string[];
}

const parsed = new Map<string, Source>();

/** Parses a TypeScript file, or a text in its place. Several tests read all files, so the sources of a worker are kept. Throws on a syntax error. */
export function parseSource(path: string, text?: string): Source {
  if (text !== undefined) return parse(path, text);
  const source = parsed.get(path) ?? parse(path, textAt(path));
  parsed.set(path, source);
  return source;
}

function parse(path: string, text: string): Source {
  const { module, program, comments, errors } = parseSync(path, text, { sourceType: 'module' });
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
  const tree = program as unknown as Node;
  const requests = [
    ...module.staticImports.map((item) => item.moduleRequest.value),
    ...module.staticExports.flatMap((item) => item.entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
    ...module.dynamicImports.flatMap((item) => literal(text.slice(item.moduleRequest.start, item.moduleRequest.end)) ?? []),
    ...nodesOf(tree).flatMap((node) => (node.type === 'TSImportType' ? (stringValue(node.source) ?? []) : [])),
  ];
  const names = module.staticImports.flatMap((item) => item.entries.map((entry) => `${item.moduleRequest.value} ${entry.importName.name ?? '*'}`));
  return {
    path,
    text,
    program: tree,
    comments: comments.map(({ start, value }) => ({ start, text: value })),
    requests: [...new Set(requests)].sort(),
    names,
  };
}

/** Every node of the tree, parents first. */
export function nodesOf(tree: Node): Node[] {
  const found: Node[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (isNode(value)) {
      found.push(value);
      Object.values(value).forEach(visit);
    }
  };
  visit(tree);
  return found;
}

/** `a.b` for a member expression on a name, else undefined. */
export function memberName(node: Node): string | undefined {
  if (node.type !== 'MemberExpression' || !isNode(node.object) || !isNode(node.property)) return undefined;
  const object = identifier(node.object);
  const property = identifier(node.property) ?? stringValue(node.property);
  return object && property ? `${object}.${property}` : undefined;
}

export const identifier = (node: unknown): string | undefined => (isNode(node) && node.type === 'Identifier' ? String(node.name) : undefined);
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;
export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const stringValue = (node: unknown): string | undefined =>
  isNode(node) && node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
const literal = (text: string): string | undefined => /^(['"`])(.*)\1$/s.exec(text)?.[2];
