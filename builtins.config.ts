import type { Plugin } from 'vite';

/** The index of a folder does not load the modules that it exports: each entry consists of what it uses. The hook is small by this alone. */
export const treeshake = { moduleSideEffects: [{ test: /\/src\/(core|main)\/.*\.ts$/, sideEffects: false }] };

/** Modules of Node that take 2 to 10 ms to load. Most commands and calls need none of them. */
const slowImport = /(import \{[^}]*\}) from 'node:(child_process|crypto|fs\/promises|timers\/promises|tty|worker_threads|zlib)'/g;
/** What a thread is started with: it is no function, and a thread needs it at once. */
const ofThread = /parentPort|workerData/;
const ownFile = /\/src\/(core|main)\/.*\.ts$/;
const lazily = 'lazily:';

/** The text of a module with the members of a module of Node, which it loads when one is used. */
function lazyModule(id: string): string {
  const exported = ([name, member]: readonly [string, unknown]): string => {
    // A call with `new` answers with the object that the function returns.
    const call = /^[A-Z]/.test(name) ? `new (load().${name})` : `load().${name}`;
    if (typeof member === 'function') return `export function ${name}(...given) { return ${call}(...given); }`;
    // The same on every system.
    if (id === 'node:zlib' && name === 'constants') return `export const constants = ${JSON.stringify(member)};`;
    return `export const ${name} = /*@__PURE__*/ member('${name}');`;
  };
  return [
    "import { createRequire } from 'node:module';",
    'const member = (name) => load()[name];',
    `let loaded; const load = () => (loaded ??= (process.getBuiltinModule ?? createRequire(import.meta.url))('${id}'));`,
    ...Object.entries(process.getBuiltinModule(id) as object).map(exported),
  ].join('\n');
}

interface Imported {
  readonly type: string;
  readonly imported?: { readonly name?: string; readonly value?: string };
  readonly local: { readonly name: string };
}

/** One import statement of a module of Node, as variables. Node 20.15 and older only know `import`. */
function asVariables(id: string, members: readonly Imported[]): string {
  const moduleAs = (member: string): string => `globalThis.process.getBuiltinModule?.("${id}") ?? ${member}`;
  const named = members.filter(({ type }) => type === 'ImportSpecifier');
  const names = named.map(({ imported, local }) => `${imported?.name ?? imported?.value}: ${local.name}`);
  const whole = members.filter((member) => !named.includes(member));
  return [
    ...whole.map(({ local }) => `var ${local.name} = ${moduleAs(`(await import("${id}")).default`)};`),
    ...(names.length > 0 ? [`var { ${names.join(', ')} } = ${moduleAs(`await import("${id}")`)};`] : []),
  ].join(' ');
}

/**
 * Lets a program for Node start faster. An `import` of a module of Node reads every member of it, so Node loads parts that it would load late, such
 * as streams for `fs`. With this, only what is used is read, and modules that are slow to load are loaded at the first call.
 */
export const builtins = (): Plugin => ({
  name: 'stemma-builtins',
  enforce: 'pre',
  // Before the list of external modules is asked.
  transform: (code, id) =>
    ownFile.test(id)
      ? code.replace(slowImport, (all, names, module) => (ofThread.test(names) ? all : `${names} from '${lazily}${module}'`))
      : undefined,
  resolveId: (id) => (id.startsWith(lazily) ? { id: `\0${id}`, moduleSideEffects: false } : undefined),
  load: (id) => (id.startsWith(`\0${lazily}`) ? lazyModule(`node:${id.slice(lazily.length + 1)}`) : undefined),
  renderChunk(code) {
    let text = code;
    for (const statement of this.parse(code).body.toReversed()) {
      if (statement.type !== 'ImportDeclaration' || typeof statement.source.value !== 'string' || !statement.source.value.startsWith('node:'))
        continue;
      text = text.slice(0, statement.start) + asVariables(statement.source.value, statement.specifiers) + text.slice(statement.end);
    }
    return text === code ? null : { code: text, map: null };
  },
});
