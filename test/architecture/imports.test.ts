import { builtinModules } from 'node:module';
import { describe, expect, test } from 'vitest';
import { filesBelow, isSource, parseSource, textAt } from '../support/source.js';
import { resolveFile } from '../support/structure.js';

/**
 * The import law: which folder may import what. A file without a row fails, and so does a package or an exemption that is not needed,
 * so this table is always current.
 *
 * Folders import each other only through their `index.ts`, unless the row says `deep`. `packages` are names in package.json and modules of
 * Node. Tests may use any package.
 */
interface Row {
  readonly folder: string;
  readonly folders: readonly string[];
  readonly packages: readonly string[] | 'any';
  /** The folder may import files other than `index.ts`. */
  readonly deep?: true;
}

/** The folders of core in the order of the data's flow. Each imports only earlier ones. */
const flow = [
  'base',
  'contract',
  'system',
  'files',
  'trust',
  'store',
  'artifacts',
  'formats',
  'chain',
  'cards',
  'composer',
  'handover',
  'timeline',
  'diff',
  'requests',
  'usage',
  'turns',
  'tickets',
  'search',
  'import',
  'follow',
  'sessions',
  'replicas',
  'export',
  'analysis',
  'evidence',
  'blame',
  'sync',
  'experiments',
  'runner',
  'integrity',
  'assist',
  'project',
  'router',
] as const;

/** The packages and modules of Node that each folder of core may use. */
const corePackages: Partial<Record<(typeof flow)[number], readonly string[]>> = {
  contract: ['@orpc/contract', 'zod'],
  system: ['node:path'],
  files: ['node:crypto', 'node:fs', 'node:os', 'node:path'],
  trust: ['node:crypto', 'node:fs', 'node:path'],
  store: ['better-sqlite3', 'node:async_hooks', 'node:crypto', 'node:fs', 'node:os', 'node:path', 'node:sqlite', 'node:zlib'],
  artifacts: ['@napi-rs/blake-hash', 'node:crypto', 'node:fs', 'node:module', 'node:path', 'node:zlib'],
  formats: [
    '@msgpack/msgpack',
    'cborg',
    'fflate',
    'json-p3',
    'mdast-util-from-markdown',
    'mdast-util-gfm',
    'micromark-extension-gfm',
    'node:buffer',
    'node:crypto',
    'node:zlib',
  ],
  timeline: ['croner'],
  chain: ['node:zlib'],
  requests: ['node:crypto'],
  usage: ['@pydantic/genai-prices', 'gpt-tokenizer'],
  import: ['node:fs', 'node:path'],
  follow: ['chokidar', 'node:fs', 'node:path'],
  replicas: [
    '@aws-sdk/client-s3',
    '@aws-sdk/credential-provider-env',
    '@aws-sdk/credential-provider-ini',
    '@smithy/credential-provider-imds',
    'node:crypto',
    'node:fs',
    'node:fs/promises',
    'node:path',
  ],
  sync: ['node:crypto', 'node:fs', 'node:path', 'node:zlib'],
  export: [
    '@secretlint/core',
    '@secretlint/secretlint-rule-preset-recommend',
    'node:crypto',
    'node:fs',
    'node:net',
    'node:path',
    'node:timers/promises',
    'node:zlib',
    'virtual:exported-page',
  ],
  analysis: ['hyparquet-writer', 'node:crypto', 'node:fs', 'node:path', 'node:zlib', 'virtual:finding-rules'],
  blame: ['node:fs', 'node:path'],
  evidence: ['node:crypto', 'node:zlib', 'virtual:evidence-page'],
  experiments: ['node:vm', 'zod'],
  runner: ['node:path'],
  integrity: ['node:fs', 'node:path'],
  assist: ['node:path', 'node:timers/promises'],
  project: ['node:crypto', 'node:fs', 'node:os', 'node:path', 'node:timers/promises', 'node:worker_threads'],
  router: ['@orpc/server'],
};

const core = (folder: string): string => `src/core/${folder}`;
const contract = core('contract');

/** What every view may import. */
const below = [contract, 'src/renderer/client', 'src/renderer/state', 'src/renderer/parts', 'src/renderer/forms'];

/** The views and their packages. */
const views: Readonly<Record<string, readonly string[]>> = {
  request: ['lucide-react', 'react', 'uplot'],
  sessions: ['lucide-react', 'react'],
  chain: ['lucide-react', 'react'],
  context: ['lucide-react', 'react'],
  diff: ['@codemirror/merge', 'lucide-react', 'react'],
  fork: ['lucide-react', 'react'],
  run: ['lucide-react', 'react'],
  experiments: ['lucide-react', 'react'],
  replay: ['lucide-react', 'react'],
  export: ['lucide-react', 'react'],
  inspector: ['lucide-react', 'react'],
  compose: ['lucide-react', 'react'],
  timeline: ['lucide-react', 'react'],
  jobs: ['lucide-react', 'react'],
  profiles: ['lucide-react', 'react'],
  boxes: ['lucide-react', 'react'],
  handover: ['lucide-react', 'react'],
  reviews: ['lucide-react', 'react'],
  settings: ['lucide-react', 'react'],
  usage: ['lucide-react', 'react'],
  findings: ['react'],
  sql: ['lucide-react', 'react'],
};

const law: readonly Row[] = [
  ...flow.map((folder, place) => ({ folder: core(folder), folders: flow.slice(0, place).map(core), packages: corePackages[folder] ?? [] })),

  // The processes around the engine. Only the engine's own process and the command line load it.
  { folder: 'src/main/window', folders: [core('base')], packages: ['node:fs/promises', 'node:path'] },
  // What every server allows a connection.
  { folder: 'src/main/connections', folders: [], packages: ['node:crypto', 'node:http', 'node:net'] },
  // Processes, signals, terminals and access lists of each system.
  {
    folder: 'src/main/system',
    folders: [core('base'), core('files'), core('system')],
    packages: ['node:child_process', 'node:fs', 'node:os', 'node:path', 'node:stream', 'node:worker_threads'],
  },
  // The printer for every process with a terminal.
  { folder: 'src/main/terminal', folders: [], packages: ['node:stream'] },
  {
    folder: 'src/main/providers',
    folders: [core('base'), core('files'), core('project')],
    packages: ['@orpc/server', 'eventsource-parser', 'node:fs', 'node:path', 'node:timers/promises'],
  },
  {
    folder: 'src/main/runner',
    folders: [core('base'), core('files'), core('project'), core('system'), 'src/main/system'],
    packages: ['node:fs', 'node:fs/promises', 'node:path', 'node:readline'],
  },
  {
    folder: 'src/main/engine',
    folders: [
      core('base'),
      contract,
      core('files'),
      core('project'),
      core('router'),
      'src/main/launch',
      'src/main/providers',
      'src/main/runner',
      'src/main/system',
      'src/main/team',
      'src/main/terminal',
      'package.json',
    ],
    packages: ['@orpc/client', '@orpc/server', 'electron', 'node:os', 'node:worker_threads'],
  },
  // The process that answers SQL.
  {
    folder: 'src/main/analyst',
    folders: [core('base'), core('project'), 'src/main/launch', 'src/main/system', 'src/main/terminal'],
    packages: ['node:path'],
  },
  // Starting an engine never loads it: the shell's Node may be too old.
  {
    folder: 'src/main/launch',
    folders: [core('base'), contract, core('files'), core('project'), core('system'), core('trust'), 'src/main/system'],
    packages: ['@orpc/contract', 'node:async_hooks', 'node:fs', 'node:module', 'node:os', 'node:path', 'node:timers/promises', 'node:worker_threads'],
  },
  {
    folder: 'src/main/otlp',
    folders: [core('base'), core('files'), 'src/main/connections'],
    packages: ['node:crypto', 'node:fs', 'node:http', 'node:path', 'node:zlib', 'protobufjs'],
  },
  {
    folder: 'src/main/web',
    folders: [
      core('base'),
      contract,
      core('files'),
      core('system'),
      'src/main/connections',
      'src/main/launch',
      'src/main/otlp',
      'src/main/system',
      'src/main/terminal',
      'src/main/window',
    ],
    packages: [
      '@orpc/client',
      '@orpc/contract',
      '@orpc/openapi',
      '@orpc/server',
      '@orpc/zod',
      'node:crypto',
      'node:fs',
      'node:http',
      'node:path',
      'node:stream',
      'node:worker_threads',
      'open',
      'ws',
    ],
  },
  {
    folder: 'src/main/proxy',
    folders: [core('base'), contract, core('formats'), 'src/main/connections', 'src/main/launch', 'src/main/providers'],
    packages: ['node:http', 'node:util', 'node:zlib'],
  },
  {
    folder: 'src/main/electron',
    folders: [core('base'), core('files'), core('system'), 'src/main/launch', 'src/main/terminal', 'src/main/window'],
    packages: ['electron', 'electron-updater', 'node:child_process', 'node:crypto', 'node:fs', 'node:path', 'node:url'],
  },
  {
    folder: 'src/main/mcp',
    folders: [core('base'), contract, 'src/main/launch'],
    packages: ['@modelcontextprotocol/sdk', 'node:timers/promises', 'node:util'],
  },
  {
    folder: 'src/main/hook',
    folders: [core('base'), core('project'), core('trust'), 'src/main/launch', 'src/main/system', 'src/main/terminal'],
    packages: ['node:os', 'node:path', 'node:timers/promises'],
  },
  {
    folder: 'src/main/cli',
    folders: [
      core('base'),
      contract,
      core('evidence'),
      core('files'),
      core('project'),
      core('router'),
      core('system'),
      core('trust'),
      'src/main/analyst',
      'src/main/engine',
      'src/main/hook',
      'src/main/hub',
      'src/main/launch',
      'src/main/mcp',
      'src/main/otlp',
      'src/main/proxy',
      'src/main/system',
      'src/main/team',
      'src/main/terminal',
      'src/main/web',
      'package.json',
    ],
    packages: [
      '@orpc/client',
      '@orpc/server',
      'commander',
      'diff',
      'jsonc-parser',
      'node:crypto',
      'node:events',
      'node:fs',
      'node:os',
      'node:path',
      'node:readline/promises',
      'node:timers/promises',
      'node:tty',
      'node:util',
    ],
  },
  // The hub of a team: the server, and how this machine reaches one.
  {
    folder: 'src/main/team',
    folders: [core('base'), contract, core('files'), core('replicas'), core('sync')],
    packages: ['@orpc/client', '@orpc/contract', 'node:crypto', 'node:fs', 'node:path', 'node:timers/promises', 'openid-client', 'zod'],
  },
  {
    folder: 'src/main/hub',
    folders: [
      core('artifacts'),
      core('base'),
      core('chain'),
      contract,
      core('export'),
      core('files'),
      core('formats'),
      core('import'),
      core('project'),
      core('replicas'),
      core('router'),
      core('sync'),
      core('system'),
      core('usage'),
      'src/main/connections',
      'src/main/launch',
      'src/main/otlp',
      'src/main/system',
      'src/main/team',
    ],
    packages: [
      '@opentelemetry/exporter-prometheus',
      '@opentelemetry/sdk-metrics',
      '@orpc/server',
      'hyparquet-writer',
      'jose',
      'kysely',
      'micromark',
      'micromark-extension-gfm',
      'node:child_process',
      'node:crypto',
      'node:fs',
      'node:http',
      'node:https',
      'node:module',
      'node:net',
      'node:os',
      'node:path',
      'node:timers/promises',
      'node:url',
      'node:zlib',
      'pg',
    ],
  },
  { folder: 'src/main/start', folders: [], packages: ['node:child_process', 'node:crypto', 'node:fs', 'node:module', 'node:path', 'node:url'] },

  // The script of an exported page runs in a browser without Stemma. page.config.ts bundles it for core/export.
  { folder: 'src/page', folders: [], packages: ['mdast-util-from-markdown', 'mdast-util-gfm', 'micromark-extension-gfm'] },

  // The window. Views do not import each other, except for the rows below.
  { folder: 'src/renderer/client', folders: [contract], packages: ['@orpc/client', '@orpc/contract', 'zustand'] },
  { folder: 'src/renderer/state', folders: [contract, 'src/renderer/client'], packages: ['fast-deep-equal', 'react', 'zustand'] },
  {
    folder: 'src/renderer/parts',
    folders: [contract, 'src/renderer/client', 'src/renderer/state'],
    packages: [
      '@base-ui/react',
      '@codemirror/merge',
      '@orpc/client',
      '@tanstack/react-virtual',
      'lucide-react',
      'react',
      'react-markdown',
      'remark-gfm',
      'shiki',
    ],
  },
  {
    folder: 'src/renderer/forms',
    folders: [contract, 'src/renderer/client', 'src/renderer/state', 'src/renderer/parts'],
    packages: [],
  },
  { folder: 'src/renderer/views/original.ts', folders: below, packages: [] },
  { folder: 'src/renderer/views/actions.ts', folders: [...below, 'src/renderer/views/original.ts'], packages: ['lucide-react'] },
  { folder: 'src/renderer/views/NoCommit.tsx', folders: below, packages: ['lucide-react', 'react'] },
  {
    folder: 'src/renderer/views/CompactionLoss.tsx',
    folders: [...below, 'src/renderer/views/CompactionLoss.css'],
    packages: ['lucide-react', 'react'],
  },
  ...Object.entries(views).map(([view, packages]) => ({
    folder: `src/renderer/views/${view}`,
    // The inspector shows parts of the context view, and running a turn again uses the editor of forks.
    folders: [
      ...below,
      'src/renderer/views/actions.ts',
      'src/renderer/views/original.ts',
      'src/renderer/views/NoCommit.tsx',
      'src/renderer/views/CompactionLoss.tsx',
      ...(view === 'inspector' ? ['src/renderer/views/context'] : []),
      ...(view === 'run' ? ['src/renderer/views/fork'] : []),
    ],
    packages,
  })),
  {
    folder: 'src/renderer/app',
    folders: [
      ...below,
      'src/renderer/views/actions.ts',
      'src/renderer/views/original.ts',
      ...Object.keys(views).map((view) => `src/renderer/views/${view}`),
    ],
    packages: ['@base-ui/react', 'cmdk', 'lucide-react', 'react', 'react-dom', 'react-resizable-panels'],
  },
  { folder: 'src/renderer/main.tsx', folders: ['src/renderer/app', 'src/renderer/client'], packages: [] },

  // Tests may import every file that they test.
  { folder: 'test/support', folders: ['src', 'test', 'page.config.ts'], packages: 'any', deep: true },
  { folder: 'test/architecture', folders: ['test/support'], packages: 'any', deep: true },
  { folder: 'test/spec', folders: ['test/support'], packages: 'any', deep: true },
  { folder: 'test/resources', folders: ['test/support', 'src/core'], packages: 'any', deep: true },
  { folder: 'test/types', folders: ['src', 'test/support'], packages: 'any', deep: true },
  { folder: 'test/attacks', folders: ['src', 'test/support', 'test/fixtures'], packages: 'any', deep: true },
  { folder: 'test/core', folders: ['src/core', 'test/support', 'test/fixtures', 'test/vectors'], packages: 'any', deep: true },
  { folder: 'test/main', folders: ['src/main', 'src/core', 'test/support', 'test/fixtures'], packages: 'any', deep: true },
  { folder: 'test/renderer', folders: ['src/renderer', contract, 'test/support', 'test/fixtures'], packages: 'any', deep: true },
  { folder: 'test/e2e', folders: [contract, 'test/support'], packages: 'any', deep: true },
  { folder: 'test/attacks', folders: ['src', 'test/support'], packages: 'any', deep: true },
  { folder: 'test/bench', folders: ['src/core', 'src/main', 'test/support', 'page.config.ts', 'builtins.config.ts'], packages: 'any', deep: true },
  { folder: 'test/soak', folders: ['src/core', 'src/main', 'test/support', 'page.config.ts'], packages: 'any', deep: true },
  { folder: 'test/faults', folders: ['src/core', 'src/main', 'test/support', 'page.config.ts'], packages: 'any', deep: true },
];

/** Exceptions, each with its reason. There should be none. */
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
  if (!row.deep && target !== granted && !isDoor(target, granted)) return { ok: false, reason: `must import ${granted}/index.ts` };
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

const requests = sources.flatMap((source) => source.requests.map((request) => ({ file: source.path, request })));
const exempted = (file: string, request: string): boolean => exemptions.some((one) => one.file === file && one.request === request);

describe('the import law', () => {
  test('every file has a row', () => {
    expect(sources.map((source) => source.path).filter((path) => !rowOf(path))).toEqual([]);
  });

  test('every import is allowed', () => {
    const refused = requests.flatMap(({ file, request }) => {
      const row = rowOf(file);
      const verdict = row && !exempted(file, request) ? judge(file, row, request) : undefined;
      return verdict && !verdict.ok ? [`${file}: '${request}' ${verdict.reason}`] : [];
    });
    expect(refused).toEqual([]);
  });

  test('every package of a row is used', () => {
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

  test('docs/architecture.md describes every folder, those of core in the order of the law', () => {
    const described = [...textAt('docs/architecture.md').matchAll(/\*\*(`[^*]+`)\*\*:?/g)].flatMap(([, names = '']) =>
      [...names.matchAll(/`([\w/]+)`/g)].map(([, name = '']) => name),
    );
    expect(described.slice(0, flow.length)).toEqual(flow);
    const others = law.flatMap(({ folder }) => /^src\/(?:main|renderer)\/(\w+)$/.exec(folder)?.[1] ?? []);
    expect(described.slice(flow.length).toSorted()).toEqual([...others, 'views'].toSorted());
  });

  test('each test of the window loads the globals of a page before any module of the window', () => {
    const tests = filesBelow('test', isSource).filter((file) => file.startsWith('test/renderer/') && file.includes('.test.'));
    expect(tests.length).toBeGreaterThan(20);
    // The test files of a worker share modules: one that failed to load fails for all later files, too.
    expect(tests.filter((file) => !/^(?:\/\/.*\n)*import '\.\/page\.js';/.test(textAt(file)))).toEqual([]);
  });

  test('every exemption is needed', () => {
    const unneeded = exemptions.filter(({ file, request }) => {
      const row = rowOf(file);
      const made = requests.some((one) => one.file === file && one.request === request);
      return !made || !row || judge(file, row, request).ok;
    });
    expect(unneeded).toEqual([]);
  });

  test('these checks can fail', () => {
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
