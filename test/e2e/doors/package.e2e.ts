import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '../../support/e2e.js';
import { node, root } from '../../support/machine.js';

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

test.describe('the npm package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stemma-package-'));
  let packed: Packed;

  test.describe.configure({ mode: 'serial' });
  test.beforeAll(() => {
    // The tests run on a build; `prepack` would build again.
    const { stdout, stderr } = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
      cwd: root,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    });
    const made = JSON.parse(stdout || '[]') as Packed[] | Record<string, Packed>;
    const [first] = Object.values(made);
    if (first === undefined) throw new Error(stderr);
    packed = first;
  });

  test('can be published: it is not private and contains the build without sources and tests', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;
    expect(manifest).not.toHaveProperty('private');
    expect(manifest.scripts?.prepack).toContain('npm run build');
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE', 'out/cli/stemma.js', 'out/renderer/index.html']));
    expect(paths.filter((path) => !/^(package\.json|README\.md|LICENSE|out\/|resources\/sample\/)/.test(path))).toEqual([]);
    expect(paths.filter((path) => /^out\/(test|bench)|\.tsx?$|\.map$/.test(path))).toEqual([]);
    expect(packed.unpackedSize).toBeLessThan(30 * 1024 ** 2);
  });

  test('does the main jobs in an empty folder without the repository', { tag: '@long' }, () => {
    const modules = join(folder, 'node_modules');
    const own = join(modules, 'stemma');
    mkdirSync(own, { recursive: true });
    const unpacked = spawnSync('tar', ['-xzf', join(folder, packed.filename), '--strip-components=1', '-C', own], { encoding: 'utf8' });
    test.skip(unpacked.error !== undefined, 'this machine has no tar');
    expect(unpacked.status, unpacked.stderr).toBe(0);
    // What npm would install beside it, from the lock instead of the registry. `test/fresh/run --package` asks the registry.
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean; link?: boolean }>;
    };
    for (const [path, { dev, link }] of Object.entries(packages))
      if (path.startsWith('node_modules/') && !dev && !link && existsSync(join(root, path)))
        cpSync(join(root, path), join(folder, path), { recursive: true });
    expect(existsSync(join(modules, 'better-sqlite3', 'build'))).toBe(false);
    expect(readdirSync(modules).length).toBeLessThan(30);
    const { stdout, status: code } = spawnSync(node, [join(root, 'test/fresh/package.mjs'), folder], { encoding: 'utf8', timeout: 240_000 });
    expect(code, stdout).toBe(0);
  });
});
