import { join } from 'node:path';
import { build, type Plugin, type Rollup } from 'vite';
import { builtins } from './builtins.config.ts';
import { exportedPage } from './page.config.ts';

const file = join(import.meta.dirname, 'src', 'main', 'cli', 'glance.ts');

/**
 * Makes a bundle of its own of `stemma log` (src/main/cli/glance.ts), because chunks that it shared with the other commands would bring the
 * contract and the readers of formats along, which take most of a start.
 */
export const glanceAlone = (rollupOptions: Pick<Rollup.RollupOptions, 'external' | 'treeshake'>): Plugin => ({
  name: 'stemma-glance-alone',
  enforce: 'pre',
  resolveId: (id, importer) =>
    id === './glance.js' && importer?.endsWith('stemma.ts') ? { id: '../chunks/glance.js', external: 'relative' as never } : undefined,
  async writeBundle() {
    await build({
      configFile: false,
      logLevel: 'warn',
      plugins: [exportedPage(), builtins()],
      build: {
        ssr: file,
        target: 'node22',
        outDir: join(import.meta.dirname, 'out', 'chunks'),
        emptyOutDir: false,
        minify: true,
        reportCompressedSize: false,
        rollupOptions: { ...rollupOptions, output: { format: 'es', entryFileNames: 'glance.js', codeSplitting: false } },
      },
      ssr: { noExternal: true },
    });
  },
});
