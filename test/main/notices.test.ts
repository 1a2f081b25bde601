import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { filesBelow, isSource, parseSource, root, textAt } from '../support/source.js';

interface Bill {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly components: readonly { readonly name: string; readonly version: string; readonly purl: string; readonly licenses: readonly object[] }[];
}

const lock = JSON.parse(textAt('package-lock.json')) as { packages: Record<string, { version: string; dev?: boolean; link?: boolean }> };
const scripts = (JSON.parse(textAt('package.json')) as { scripts: Record<string, string> }).scripts;
const nameAt = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
const installed = Object.entries(lock.packages).filter(([path]) => path !== '' && existsSync(join(root, path)));

/** The package that a file imports by this request, or undefined for our files, modules of Node and virtual modules. */
const packageOf = (request: string): string | undefined => /^(?!node:|virtual:)(@[^/]+\/[^/]+|[^./][^/]*)/.exec(request)?.[1];

let bill: Bill;
let notices: string;
let shipped: Set<string>;

beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'stemma-test-'));
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'src/main/start/notices.ts'), folder], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  bill = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as Bill;
  notices = readFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
  rmSync(folder, { recursive: true });
  shipped = new Set(bill.components.map(({ name, version }) => `${name}@${version}`));
});

describe('the notices of a release', () => {
  test('[T55] the bill of materials lists every production dependency with its license', () => {
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: expect.stringMatching(/^1\.[56]$/) });
    const production = installed.filter(([, { dev, link }]) => !dev && !link).map(([path, { version }]) => `${nameAt(path)}@${version}`);
    expect(production.length).toBeGreaterThan(10);
    expect(shipped.size).toBeGreaterThan(100);
    expect(production.filter((each) => !shipped.has(each))).toEqual([]);
    expect(bill.components.filter(({ purl, licenses }) => !purl.startsWith('pkg:npm/') || !licenses?.length)).toEqual([]);
  });

  test('[T55] the bill of materials lists what the window bundles, and all that this depends on', { tags: 'long' }, () => {
    const requests = filesBelow('src', isSource).flatMap((path) => parseSource(path).requests);
    const names = new Set([...shipped].map((each) => each.slice(0, each.lastIndexOf('@'))));
    const imported = [...new Set(requests.flatMap((request) => packageOf(request) ?? []))];
    expect(imported).toEqual(expect.arrayContaining(['react', 'shiki', 'zod', 'electron']));
    expect(imported.filter((name) => !names.has(name))).toEqual([]);
    const folders = installed.filter(([path, { version }]) => nameAt(path) !== 'electron' && shipped.has(`${nameAt(path)}@${version}`));
    const needed = folders.flatMap(([path]) =>
      Object.keys((JSON.parse(textAt(join(path, 'package.json'))) as { dependencies?: object }).dependencies ?? {}),
    );
    expect(needed.filter((name) => !names.has(name))).toEqual([]);
  });

  test('[T55] the bill of materials lists no tool of development', () => {
    const names = bill.components.map(({ name }) => name);
    expect(['vitest', 'typescript', '@playwright/test', 'electron-builder', '@electron/get'].filter((name) => names.includes(name))).toEqual([]);
  });

  test('[T56] every package has its license text', () => {
    const sections = new Map(notices.split(`\n\n${'-'.repeat(80)}\n\n`).map((section) => [/^(\S+ \S+) \(/.exec(section)?.[1], section]));
    const poor = bill.components.filter(({ name, version }) => (sections.get(`${name} ${version}`)?.length ?? 0) < 300);
    expect(poor.map(({ name }) => name)).toEqual([]);
    expect(sections.get('react-remove-scroll-bar 2.3.8')).toMatch(/Copyright \(c\) Anton Korzunov[\s\S]*Permission is hereby granted/);
  });

  test('[T55] [T56] `npm run dist` makes both files and packs them', () => {
    expect(scripts.dist).toContain('src/main/start/notices.ts');
    expect(textAt('electron-builder.config.ts')).toContain("filter: ['THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json']");
  });
});
