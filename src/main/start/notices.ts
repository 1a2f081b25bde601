// notices: the legal notices about the packages of a release. Writes two files into `out/`, which `npm run dist` packs: `THIRD-PARTY-NOTICES.txt`
// with every package and its license text, and `sbom.cdx.json`, a CycloneDX bill of materials. Node runs this file from source, so it imports no
// other file of Stemma.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly group?: string;
  readonly version: string;
  readonly author?: string;
  readonly licenses?: readonly ({ license: { id?: string; name?: string } } | { expression: string })[];
  readonly properties?: readonly { name: string; value: string }[];
}

interface Bill {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const root = resolve(import.meta.dirname, '..', '..', '..');
const readJson = (path: string): unknown => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** All installed packages, as npm lists them from `node_modules` without network access. */
function installedPackages(): Bill {
  const { status, stdout, stderr } = spawnSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
  return JSON.parse(stdout) as Bill;
}

/** The packages that files of `src` import. Packages of the window are development dependencies, because the build bundles them. */
function importedPackages(): Set<string> {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) => /\.(tsx?|css)$/.test(name));
  const requests = sources.flatMap((name) => {
    const text = readFileSync(join(root, 'src', name), 'utf8');
    return [...text.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"./][^'"]*)['"]/g)].map(([, request = '']) => request);
  });
  return new Set(requests.map((request) => request.split('/', request.startsWith('@') ? 2 : 1).join('/')));
}

/** The refs of the packages in a release: the dependencies, the packages that the sources import, and all their dependencies. */
function shippedRefs({ metadata, dependencies }: Bill): Set<string> {
  const manifest = readJson('package.json') as { dependencies: Record<string, string> };
  const wanted = new Set([...Object.keys(manifest.dependencies), ...importedPackages()]);
  const dependsOn = new Map(dependencies.map((each) => [each.ref, each.dependsOn]));
  const packageName = (ref: string): string => ref.slice(0, ref.lastIndexOf('@'));
  const shipped = new Set<string>();
  const waiting = (dependsOn.get(metadata.component['bom-ref']) ?? []).filter((ref) => wanted.has(packageName(ref)));
  for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
    if (shipped.has(ref)) continue;
    shipped.add(ref);
    // A release contains Electron's program, but not the packages that download it.
    if (packageName(ref) !== 'electron') waiting.push(...(dependsOn.get(ref) ?? []));
  }
  return shipped;
}

/** npm's bill of materials without the packages that only development needs. */
function shippedBill(): Bill {
  const all = installedPackages();
  const shipped = shippedRefs(all);
  const own = all.metadata.component['bom-ref'];
  const manifest = readJson('package.json') as { name: string };
  return {
    ...all,
    metadata: { ...all.metadata, component: { ...all.metadata.component, name: manifest.name } },
    components: all.components
      .filter((component) => shipped.has(component['bom-ref']))
      .map(({ properties = [], ...component }) => ({
        ...component,
        properties: properties.filter(({ name }) => name !== 'cdx:npm:package:development'),
      })),
    dependencies: all.dependencies
      .filter(({ ref }) => ref === own || shipped.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: ref.startsWith('electron@') ? [] : dependsOn.filter((each) => shipped.has(each)) })),
  };
}

const fullName = ({ group, name }: Component): string => (group ? `${group}/${name}` : name);
const licenseOf = ({ licenses = [] }: Component): string =>
  licenses.map((each) => ('expression' in each ? each.expression : (each.license.id ?? each.license.name ?? ''))).join(' ');

function packageFolders(): Map<string, string> {
  const { packages } = readJson('package-lock.json') as { packages: Record<string, { version?: string; name?: string }> };
  const installed = Object.entries(packages).filter(([path]) => path !== '' && existsSync(join(root, path)));
  return new Map(installed.map(([path, { name, version }]) => [`${name ?? path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`, path]));
}

function ownText(folder: string | undefined): string {
  if (folder === undefined) return '';
  const names = readdirSync(join(root, folder)).filter((name) => /^(un)?licen[cs]e|^copying|^notice/i.test(name) && !/\.(js|ts)$/.test(name));
  return names
    .sort()
    .map((name) => readFileSync(join(root, folder, name), 'utf8').trim())
    .join('\n\n');
}

/** The notices of all packages. One without a license file gets the text of another with the same license, with its own author in it. */
function noticesOf(bill: Bill): string {
  const folders = packageFolders();
  const texts = new Map(bill.components.map((component) => [component, ownText(folders.get(`${fullName(component)}@${component.version}`))]));
  const standardText = (license: string): string => {
    const [, text] = [...texts].find(([component, each]) => licenseOf(component) === license && each !== '') ?? [];
    if (text === undefined) throw new Error(`No installed package has the text of the license ${license}.`);
    return text.replaceAll(/^.*copyright (?:\(c\)|©|\d).*\n/gim, '').trim();
  };
  const notices = [...texts].map(([component, text]) => {
    const author = component.author ?? `the authors of ${fullName(component)}`;
    const license = licenseOf(component);
    return `${fullName(component)} ${component.version} (${license})\n\n${text || `Copyright (c) ${author}\n\n${standardText(license)}`}`;
  });
  const head = 'Stemma contains the following packages. Electron brings the notices of Chromium in LICENSES.chromium.html.';
  return `${[head, ...notices.sort()].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

const to = resolve(process.argv[2] ?? join(root, 'out'));
const bill = shippedBill();
mkdirSync(to, { recursive: true });
writeFileSync(join(to, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);
writeFileSync(join(to, 'THIRD-PARTY-NOTICES.txt'), noticesOf(bill));
