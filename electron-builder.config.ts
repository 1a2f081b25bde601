import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from 'electron-builder';

const { env } = process;

/** The packages that the build leaves outside of its bundles, because they read files beside their own. */
const outside = ['better-sqlite3', '@napi-rs/blake-hash', 'chokidar', 'open'];

/** Packages and everything that they need at run time, as far as it is installed here. */
function withDependencies(names: readonly string[], found = new Set<string>()): Set<string> {
  for (const name of names) {
    const manifest = join(import.meta.dirname, 'node_modules', name, 'package.json');
    // better-sqlite3 needs node-addon-api only to be compiled.
    if (found.has(name) || name === 'node-addon-api' || !existsSync(manifest)) continue;
    found.add(name);
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, object | undefined>;
    withDependencies(Object.keys({ ...dependencies, ...optionalDependencies }), found);
  }
  return found;
}

/** Whether the variables of a signature are set. Without them, the packages are made unsigned, and this says so. */
function given(what: string, ...names: readonly string[]): boolean {
  const missing = names.filter((name) => !env[name]);
  if (missing.length > 0) console.log(`  • ${what} is skipped: ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not set`);
  return missing.length === 0;
}
const signsMac = process.platform === 'darwin' && given('signing for macOS', 'CSC_LINK', 'CSC_KEY_PASSWORD');
const notarizes = signsMac && given('notarization', 'APPLE_API_KEY', 'APPLE_API_KEY_ID', 'APPLE_API_ISSUER');
if (process.platform === 'win32') given('signing for Windows', 'WIN_CSC_LINK', 'WIN_CSC_KEY_PASSWORD');

/** The page of the project: known where a release is made. */
const homepage = env.GITHUB_REPOSITORY ? `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}` : 'https://stemma.invalid';
const author = 'The Stemma authors';
const email = 'maintainers@stemma.invalid';

/**
 * Packages for people who have no Node: `npm run dist`. Everything is bundled into `out/` by the build; only what reads
 * files beside its own comes along as packages, and machine code is unpacked, because it cannot be loaded from an archive.
 */
const config: Configuration = {
  appId: 'app.stemma.desktop',
  productName: 'Stemma',
  copyright: 'MIT License',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: electron-builder fills it in.
  artifactName: '${productName}-${version}-${os}-${arch}.${ext}',
  directories: { output: 'dist', buildResources: 'resources' },
  // The public key of updates. Without it, a package never updates itself.
  extraMetadata: { homepage, author: { name: author, email }, updateKey: env.STEMMA_UPDATE_KEY ?? '' },
  // For the manifests of updates. The app takes the address of its feed from its settings.
  publish: [{ provider: 'generic', url: 'https://updates.stemma.invalid/' }],
  files: [
    // Not the reports and caches of tests, which are beside the build.
    'out/{chunks,cli,engine,main,preload,renderer}/**',
    'resources/sample/**',
    'resources/icons/32x32.png',
    'package.json',
    '!node_modules{,/**}',
    ...[...withDependencies(outside)].map((name) => ({
      from: `node_modules/${name}`,
      to: `node_modules/${name}`,
      // Machine code for this system only, and nothing that is needed only to compile, to type or to read.
      filter: [
        '**/*',
        '!{build,deps,src,test,tests,benchmark}{,/**}',
        '!**/*.{md,ts,mts,cts,map,gyp}',
        '!prebuilds/**',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: electron-builder fills it in.
        'prebuilds/${platform}-${arch}.node',
      ],
    })),
  ],
  asarUnpack: ['**/*.node'],
  // Chromium's translations of its own menus, which the app does not show.
  electronLanguages: ['en-US'],
  // Beside the archive, too, where a person can read them.
  extraResources: [{ from: 'out', to: '.', filter: ['THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json'] }],
  // better-sqlite3 and the hash carry N-API binaries for every platform: nothing is compiled here.
  npmRebuild: false,
  fileAssociations: [{ ext: 'stemma', name: 'Stemma project', role: 'Editor', isPackage: true }],
  protocols: [{ name: 'Stemma link', schemes: ['stemma'] }],
  electronFuses: {
    runAsNode: false,
    enableCookieEncryption: true,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    grantFileProtocolExtraPrivileges: false,
    // Without a certificate, macOS still wants a valid signature of its own.
    resetAdHocDarwinSignature: !signsMac,
  },
  linux: {
    target: ['AppImage', 'deb', 'tar.gz'],
    category: 'Development',
    icon: 'resources/icons',
    executableName: 'stemma-app',
    maintainer: `${author} <${email}>`,
    vendor: author,
    synopsis: 'Agent histories as branching chains of context',
    description: 'See, prove and change what your coding agents understood. Reads the histories of Claude Code, Codex, Gemini CLI and others.',
    desktop: { entry: { Keywords: 'agent;history;context;transcript;Claude;Codex;', StartupWMClass: 'Stemma' } },
    extraFiles: [{ from: 'resources/launchers/stemma', to: 'stemma' }],
  },
  deb: {
    packageCategory: 'devel',
    // What the program is linked with. electron-builder's own list lacks the last three, without which it does not start on a minimal system.
    depends: [
      ...['libgtk-3-0', 'libnotify4', 'libnss3', 'libxss1', 'libxtst6', 'xdg-utils', 'libatspi2.0-0', 'libuuid1', 'libsecret-1-0'],
      ...['libdrm2', 'libgbm1', 'libasound2t64 | libasound2'],
    ],
    priority: 'optional',
    fpm: ['resources/launchers/usr-bin-stemma=/usr/bin/stemma'],
  },
  // The AppImage that brings its own FUSE, and starts in Chromium's sandbox. With a license, it would ask for consent on the standard output.
  toolsets: { appimage: '1.0.3' },
  mac: {
    target: ['dmg', 'zip'],
    category: 'public.app-category.developer-tools',
    icon: 'resources/icon.png',
    hardenedRuntime: true,
    gatekeeperAssess: false,
    entitlements: 'resources/entitlements.mac.plist',
    entitlementsInherit: 'resources/entitlements.mac.plist',
    notarize: notarizes,
    ...(!signsMac && { identity: null }),
    extraFiles: [{ from: 'resources/launchers/stemma', to: 'Resources/bin/stemma' }],
  },
  win: {
    target: ['nsis'],
    icon: 'resources/icon.png',
    extraFiles: [{ from: 'resources/launchers/stemma.cmd', to: 'bin/stemma.cmd' }],
  },
  nsis: { oneClick: false, perMachine: false, allowToChangeInstallationDirectory: true, license: 'LICENSE' },
};

export default config;
