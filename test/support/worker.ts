import { join } from 'node:path';
import { build } from 'vite';
import { exportedPage } from '../../page.config.js';
import { root } from './machine.js';

/** Bundles the script of the threads that work in a project, as the product's is, and returns its path. */
export async function buildWorker(folder: string): Promise<string> {
  const outDir = join(root, 'out', folder);
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    plugins: [exportedPage()],
    build: {
      ssr: true,
      target: 'node24',
      outDir,
      emptyOutDir: true,
      minify: false,
      rolldownOptions: { input: { work: join(root, 'src/main/engine/work.ts') }, output: { entryFileNames: '[name].js', format: 'esm' } },
    },
  });
  return join(outDir, 'work.js');
}
