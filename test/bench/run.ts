/**
 * `npm run bench [-- [--quick] ROW…]`: ratios, each measured against a floor or a peer in the same run, and whether they hold.
 * The engine is built as the product is, then measured in a process of its own.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const outDir = join(root, 'out', 'bench');

await build({
  root,
  configFile: false,
  logLevel: 'warn',
  build: {
    ssr: true,
    target: 'node24',
    outDir,
    emptyOutDir: false,
    minify: false,
    rolldownOptions: {
      input: {
        main: join(here, 'main.ts'),
        syncs: join(here, 'syncs.ts'),
        memory: join(here, 'memory.ts'),
        langgraph: join(here, 'langgraph.ts'),
        planner: join(root, 'src/core/intake/plan-worker.ts'),
      },
      output: { entryFileNames: '[name].js', format: 'esm' },
    },
  },
});

const { status } = spawnSync(process.execPath, ['--expose-gc', join(outDir, 'main.js'), outDir, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exitCode = status ?? 1;
