import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { exportedPage } from '../../page.config.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Bundles a script for another process or thread as the product's scripts are bundled, into a folder below `out/`. Returns its path. */
export async function bundle(script: string, folder: string): Promise<string> {
  const outDir = join(root, 'out', folder);
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    plugins: [exportedPage()],
    build: {
      ssr: true,
      target: 'node24',
      outDir,
      emptyOutDir: true,
      minify: false,
      rolldownOptions: { input: { script: join(root, script) }, output: { entryFileNames: '[name].js', format: 'esm' } },
    },
  });
  return join(outDir, 'script.js');
}
