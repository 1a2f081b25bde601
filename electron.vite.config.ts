import react from '@vitejs/plugin-react';
import { defineConfig } from 'electron-vite';
import { builtins, treeshake } from './builtins.config.ts';
import { glanceAlone } from './glance.config.ts';
import { exportedPage } from './page.config.ts';

/**
 * Three builds into `out/`: what runs on Node (shell, engine, web host, command line; one bundle each over shared
 * chunks), the preload (one CommonJS file, as a sandbox wants it), and the window.
 * Packages that read files beside their own (machine code, scripts) stay outside; everything else is bundled, so that
 * a start reads few files.
 */
const outside = ['better-sqlite3', '@napi-rs/blake-hash', 'chokidar', 'open', 'electron', 'pg-native'];

export default defineConfig({
  main: {
    plugins: [exportedPage(), builtins(), glanceAlone({ external: outside, treeshake })],
    build: {
      outDir: 'out',
      emptyOutDir: false,
      target: 'node20',
      externalizeDeps: false,
      reportCompressedSize: false,
      rollupOptions: {
        external: outside,
        treeshake,
        input: {
          'main/app': 'src/main/electron/app.ts',
          'engine/engine': 'src/main/engine/engine.ts',
          'engine/work': 'src/main/engine/work.ts',
          'cli/stemma': 'src/main/cli/stemma.ts',
        },
        output: {
          format: 'es',
          entryFileNames: '[name].js',
          chunkFileNames: 'chunks/[name].js',
          minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
          // An old Node loads these to start a newer one, and the help needs nothing else, so they share no file with anything larger.
          codeSplitting: {
            groups: [
              { name: 'system', test: /\/src\/(core\/(base|system|files)\/|core\/contract\/(kinds|hub-place)\.ts|main\/(system|terminal|launch)\/)/ },
            ],
          },
        },
      },
    },
  },
  preload: {
    build: {
      outDir: 'out/preload',
      externalizeDeps: false,
      reportCompressedSize: false,
      rollupOptions: {
        input: { preload: 'src/main/electron/preload.ts' },
        external: ['electron'],
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: 'src/renderer',
    plugins: [react()],
    build: {
      outDir: 'out/renderer',
      minify: true,
      // In kB. Files come from the disk or from this machine; grammars of the code colors are the largest.
      chunkSizeWarningLimit: 1_000,
      reportCompressedSize: false,
      rollupOptions: { input: 'src/renderer/index.html' },
    },
  },
});
