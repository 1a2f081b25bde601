/**
 * `npm run bench [-- [--quick] ROW…]`: measures ratios against a floor or a peer in the same run, and compares them with
 * their limits. The engine is built like the product and measured in its own process.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { builtins, treeshake } from '../../builtins.config.ts';
import { exportedPage } from '../../page.config.ts';
import { installPeers } from '../support/peers.ts';
import { findPeers } from '../support/surroundings.ts';
import { withoutFacts } from './without-facts.ts';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const outDir = join(root, 'out', 'bench');

/** Builds programs of the bench, named by their entry files. */
const buildAll = (input: Readonly<Record<string, string>>, plugins: readonly Plugin[] = []): Promise<unknown> =>
  build({
    root,
    configFile: false,
    logLevel: 'warn',
    plugins: [exportedPage(), builtins(), ...plugins],
    build: {
      ssr: true,
      target: 'node24',
      outDir,
      emptyOutDir: false,
      minify: false,
      rolldownOptions: {
        input,
        treeshake,
        checks: { pluginTimings: false },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js', format: 'esm' },
      },
    },
  });

const problem = installPeers();
if (problem !== undefined) {
  console.error(`The bench needs the packages of test/peers/package.json, which cannot be installed: ${problem}`);
  process.exit(1);
}
findPeers();

await buildAll({
  main: join(here, 'main.ts'),
  hub: join(here, 'hub.ts'),
  syncs: join(here, 'syncs.ts'),
  'bare-import': join(here, 'bare-import.ts'),
  memory: join(here, 'memory.ts'),
  scale: join(here, 'scale.ts'),
  langgraph: join(here, 'langgraph.ts'),
  work: join(root, 'src/main/engine/work.ts'),
});
await buildAll({ 'without-facts': join(here, 'engine.ts') }, [withoutFacts()]);

const { status } = spawnSync(process.execPath, ['--expose-gc', join(outDir, 'main.js'), outDir, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exitCode = status ?? 1;
