import { existsSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesBelow, isSource, parseSource, root } from '../support/source.js';

/**
 * The import law: which folder may import what. A file in no row fails, a package or an exemption that nothing needs
 * fails too, so that this page says what the house is and not what it once was.
 *
 * Folders import each other through their `index.ts` alone, unless the row says `deep`. Inside a folder everything
 * may import everything. `packages` are names in package.json, and modules of Node one by one; tests use what they like.
 */
interface Row {
  readonly folder: string;
  readonly folders: readonly string[];
  readonly packages: readonly string[] | 'any';
  /** The folder may reach past the doors of the folders that it imports. */
  readonly deep?: true;
}

/** The folders of core in the order of the data's flow: each imports only what stands before it. */
const flow = [
  'base',
  'contract',
  'store',
  'artifacts',
  'formats',
  'chain',
  'cards',
  'handover',
  'composer',
  'timeline',
  'diff',
  'requests',
  'turns',
  'tickets',
  'search',
  'intake',
  'export',
  'experiments',
  'project',
  'router.ts',
] as const;

/** What each folder of core may take from Node and from the registry: as little as it needs. */
const corePackages: Partial<Record<(typeof flow)[number], readonly string[]>> = {
  contract: ['@orpc/contract', 'zod'],
  store: ['better-sqlite3', 'node:fs', 'node:os', 'node:path', 'node:zlib'],
  artifacts: ['@aws-sdk/client-s3', '@napi-rs/blake-hash', 'node:crypto', 'node:fs', 'node:fs/promises', 'node:path', 'node:zlib'],
  formats: ['@msgpack/msgpack', 'cbor-x', 'node:buffer', 'node:crypto', 'node:zlib'],
  requests: ['node:crypto'],
  intake: ['chokidar', 'node:fs', 'node:os', 'node:path', 'node:worker_threads'],
  export: ['@secretlint/core', '@secretlint/secretlint-rule-preset-recommend', 'node:crypto', 'node:fs', 'node:path', 'node:timers/promises'],
  experiments: ['node:vm', 'zod'],
  project: ['node:crypto', 'node:fs', 'node:path'],
  'router.ts': ['@orpc/server'],
};

const core = (folder: string): string => `src/core/${folder}`;
const contract = core('contract');

/** What every view may build on. */
const below = [contract, 'src/renderer/client', 'src/renderer/state', 'src/renderer/parts'];

/** The views, and what each needs of the registry. */
const views: Readonly<Record<string, readonly string[]>> = {
  request: ['@tanstack/react-virtual', 'lucide-react', 'react', 'uplot'],
  library: ['@tanstack/react-virtual', 'lucide-react', 'react'],
  chain: ['@tanstack/react-virtual', 'lucide-react', 'react'],
  context: ['@tanstack/react-virtual', 'lucide-react', 'react'],
  diff: ['@codemirror/merge', '@tanstack/react-virtual', 'lucide-react', 'react'],
  fork: ['@tanstack/react-virtual', 'lucide-react', 'react'],
  run: ['lucide-react', 'react'],
  experiments: ['lucide-react', 'react'],
  replay: ['@tanstack/react-virtual', 'lucide-react', 'react'],
  export: ['lucide-react', 'react'],
  inspector: ['lucide-react', 'react'],
  compose: ['@tanstack/react-virtual', 'lucide-react', 'react'],
  timeline: ['@tanstack/react-virtual', 'lucide-react', 'react'],
  boxes: ['@tanstack/react-virtual', 'lucide-react', 'react'],
  handover: ['@tanstack/react-virtual', 'lucide-react', 'react'],
  reviews: ['@tanstack/react-virtual', 'lucide-react', 'react'],
  storage: ['lucide-react', 'react'],
};

const law: readonly Row[] = [
  ...flow.map((folder, place) => ({ folder: core(folder), folders: flow.slice(0, place).map(core), packages: corePackages[folder] ?? [] })),

  // The processes around the engine. Only two of them run it: the engine's own, and the command line.
  { folder: 'src/main/window', folders: [], packages: ['node:fs/promises', 'node:path'] },
  {
    folder: 'src/main/providers',
    folders: [core('project')],
    packages: ['@orpc/server', 'eventsource-parser', 'node:fs', 'node:path', 'node:timers/promises'],
  },
  {
    folder: 'src/main/engine',
    folders: [core('project'), core('router.ts'), 'src/main/launch', 'src/main/providers'],
    packages: ['@orpc/client', '@orpc/server', 'electron', 'node:fs', 'node:worker_threads'],
  },
  // What starts an engine never loads one: the shell's Node may be too old for it.
  {
    folder: 'src/main/launch',
    folders: [contract, core('project')],
    packages: ['@orpc/contract', 'node:fs', 'node:os', 'node:path', 'node:worker_threads'],
  },
  {
    folder: 'src/main/web',
    folders: [contract, 'src/main/launch', 'src/main/window'],
    packages: [
      '@orpc/client',
      '@orpc/contract',
      '@orpc/openapi',
      '@orpc/server',
      '@orpc/zod',
      'node:crypto',
      'node:http',
      'node:net',
      'node:stream',
      'node:worker_threads',
      'open',
      'ws',
    ],
  },
  {
    folder: 'src/main/proxy',
    folders: [contract, 'src/main/launch', 'src/main/providers'],
    packages: ['node:http', 'node:https', 'node:net', 'node:util', 'node:zlib'],
  },
  {
    folder: 'src/main/electron',
    folders: ['src/main/launch', 'src/main/window'],
    packages: ['electron', 'node:child_process', 'node:fs', 'node:path'],
  },
  { folder: 'src/main/mcp', folders: [contract, 'src/main/launch'], packages: ['@modelcontextprotocol/sdk', 'zod'] },
  {
    folder: 'src/main/hook',
    folders: [core('project'), 'src/main/launch'],
    packages: ['node:fs', 'node:path', 'node:timers/promises'],
  },
  {
    folder: 'src/main/cli',
    folders: [
      contract,
      core('project'),
      core('router.ts'),
      'src/main/engine',
      'src/main/hook',
      'src/main/launch',
      'src/main/mcp',
      'src/main/proxy',
      'src/main/web',
      'package.json',
    ],
    packages: [
      '@orpc/contract',
      '@orpc/server',
      'commander',
      'diff',
      'jsonc-parser',
      'node:child_process',
      'node:crypto',
      'node:events',
      'node:fs',
      'node:module',
      'node:os',
      'node:path',
      'node:readline/promises',
      'node:stream',
      'node:tty',
    ],
  },
  { folder: 'src/main/start', folders: [], packages: ['node:child_process', 'node:fs', 'node:module', 'node:path', 'node:url'] },

  // The window: what is shared stands below what uses it, and views know nothing of each other (but one).
  { folder: 'src/renderer/client', folders: [contract], packages: ['@orpc/client', '@orpc/contract', 'zustand'] },
  { folder: 'src/renderer/state', folders: [contract, 'src/renderer/client'], packages: ['react', 'zustand'] },
  {
    folder: 'src/renderer/parts',
    folders: [contract, 'src/renderer/client', 'src/renderer/state'],
    packages: ['@base-ui/react', '@orpc/client', 'lucide-react', 'react', 'react-markdown', 'remark-gfm', 'shiki'],
  },
  { folder: 'src/renderer/views/actions.ts', folders: below, packages: ['lucide-react'] },
  { folder: 'src/renderer/views/NoCommit.tsx', folders: below, packages: ['lucide-react', 'react'] },
  ...Object.entries(views).map(([view, packages]) => ({
    folder: `src/renderer/views/${view}`,
    // The inspector stands beside the context and says the same of it; a turn that is run again is edited as a fork is.
    folders: [
      ...below,
      'src/renderer/views/actions.ts',
      'src/renderer/views/NoCommit.tsx',
      ...(view === 'inspector' ? ['src/renderer/views/context'] : []),
      ...(view === 'run' ? ['src/renderer/views/fork'] : []),
    ],
    packages,
  })),
  {
    folder: 'src/renderer/app',
    folders: [...below, 'src/renderer/views/actions.ts', ...Object.keys(views).map((view) => `src/renderer/views/${view}`)],
    packages: ['@base-ui/react', 'cmdk', 'lucide-react', 'react', 'react-dom', 'react-resizable-panels'],
  },
  { folder: 'src/renderer/main.tsx', folders: ['src/renderer/app', 'src/renderer/client'], packages: [] },

  // Tests: each sees what it tests, past the doors too.
  { folder: 'test/support', folders: ['src', 'test'], packages: 'any', deep: true },
  { folder: 'test/architecture', folders: ['test/support'], packages: 'any', deep: true },
  { folder: 'test/spec', folders: ['test/support'], packages: 'any', deep: true },
  { folder: 'test/resources', folders: ['test/support', 'src/core'], packages: 'any', deep: true },
  { folder: 'test/types', folders: ['src', 'test/support'], packages: 'any', deep: true },
  { folder: 'test/core', folders: ['src/core', 'test/support', 'test/fixtures', 'test/vectors'], packages: 'any', deep: true },
  { folder: 'test/main', folders: ['src/main', 'src/core', 'test/support', 'test/fixtures'], packages: 'any', deep: true },
  { folder: 'test/renderer', folders: ['src/renderer', contract, 'test/support', 'test/fixtures'], packages: 'any', deep: true },
  { folder: 'test/e2e', folders: [contract, 'test/support'], packages: 'any', deep: true },
  { folder: 'test/bench', folders: ['src/core', 'test/support'], packages: 'any', deep: true },
  { folder: 'test/faults', folders: ['src/core', 'src/main', 'test/support'], packages: 'any', deep: true },
];

/** Debts, each with its reason. None is the aim. */
const exemptions: readonly { readonly file: string; readonly request: string; readonly because: string }[] = [];

// --- the checker -----------------------------------------------------------------------------------------------

const sources = [...filesBelow('src', isSource), ...filesBelow('test', isSource)].map((path) => parseSource(path));

const within = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
const rowOf = (path: string): Row | undefined => law.filter((row) => within(path, row.folder)).sort((a, b) => b.folder.length - a.folder.length)[0];

type Verdict = { readonly ok: true; readonly grant?: string } | { readonly ok: false; readonly reason: string };

function judge(file: string, row: Row, request: string): Verdict {
  if (!request.startsWith('.')) return judgePackage(row, request);
  const target = resolveFile(file, request);
  if (target === undefined) return { ok: false, reason: `names no file` };
  if (within(target, row.folder)) return { ok: true };
  const granted = row.folders.find((folder) => within(target, folder));
  if (!granted) return { ok: false, reason: `${row.folder} may not import ${target}` };
  if (!row.deep && target !== granted && !isDoor(target, granted)) return { ok: false, reason: `goes past the door ${granted}/index.ts` };
  return { ok: true, grant: granted };
}

function judgePackage(row: Row, request: string): Verdict {
  const name = packageName(request);
  return row.packages === 'any' || row.packages.includes(name)
    ? { ok: true, grant: name }
    : { ok: false, reason: `${row.folder} may not use ${name}` };
}

const isDoor = (target: string, folder: string): boolean => /^index\.tsx?$/.test(target.slice(folder.length + 1));

function packageName(request: string): string {
  if (request.startsWith('node:') || builtinModules.includes(request)) return request;
  return request
    .split('/')
    .slice(0, request.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The file that a relative import means, from the root; `.js` stands for the TypeScript that it is made from. */
function resolveFile(file: string, request: string): string | undefined {
  const path = join(dirname(file), request.replace(/\?.*$/, '')).replaceAll('\\', '/');
  const stem = path.replace(/\.js$/, '');
  return [path, `${stem}.ts`, `${stem}.tsx`, `${stem}.d.ts`, `${stem}/index.ts`].find(
    (candidate) => /\.\w+$/.test(candidate) && existsSync(join(root, candidate)),
  );
}

const requests = sources.flatMap((source) => source.requests.map((request) => ({ file: source.path, request })));
const exempted = (file: string, request: string): boolean => exemptions.some((one) => one.file === file && one.request === request);

describe('the import law', () => {
  test('every file stands in a row', () => {
    expect(sources.map((source) => source.path).filter((path) => !rowOf(path))).toEqual([]);
  });

  test('every import is granted', () => {
    const refused = requests.flatMap(({ file, request }) => {
      const row = rowOf(file);
      const verdict = row && !exempted(file, request) ? judge(file, row, request) : undefined;
      return verdict && !verdict.ok ? [`${file}: '${request}' ${verdict.reason}`] : [];
    });
    expect(refused).toEqual([]);
  });

  test('every package that a row grants is used', () => {
    const used = new Set(
      requests.flatMap(({ file, request }) => {
        const row = rowOf(file);
        const verdict = row && judge(file, row, request);
        return verdict?.ok && verdict.grant ? [`${row?.folder}: ${verdict.grant}`] : [];
      }),
    );
    const unused = law
      .flatMap((row) => (row.packages === 'any' ? [] : row.packages).map((name) => `${row.folder}: ${name}`))
      .filter((grant) => !used.has(grant));
    expect(unused).toEqual([]);
  });

  test('every exemption is needed', () => {
    const unneeded = exemptions.filter(({ file, request }) => {
      const row = rowOf(file);
      const made = requests.some((one) => one.file === file && one.request === request);
      return !made || !row || judge(file, row, request).ok;
    });
    expect(unneeded).toEqual([]);
  });

  test('what it checks can fail: a window that reads the store, a door that is climbed past, an unlisted package', () => {
    const row = rowOf('src/renderer/parts/any.tsx');
    if (!row) throw new Error('the window has no row');
    expect(judge('src/renderer/parts/any.tsx', row, '../../core/artifacts/hash.js').ok).toBe(false);
    expect(judge('src/renderer/parts/any.tsx', row, '../../core/contract/scalars.js').ok).toBe(false);
    expect(judge('src/renderer/parts/any.tsx', row, '../../core/contract/index.js').ok).toBe(true);
    expect(judge('src/renderer/parts/any.tsx', row, 'better-sqlite3').ok).toBe(false);
    expect(parseSource('a.ts', "export type A = import('./a.js').A; export * from './b.js'; await import('./c.js');").requests).toEqual([
      './a.js',
      './b.js',
      './c.js',
    ]);
  });
});
