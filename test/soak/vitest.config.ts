import { defineConfig } from 'vitest/config';
import { exportedPage } from '../../page.config.ts';
import { findPeers, keepCompiledCode, separateFromPerson } from '../support/surroundings.ts';

separateFromPerson();
keepCompiledCode();
findPeers();

/** The soak of the hub: `npm run soak`, after `npm run build`. STEMMA_SOAK_MINUTES sets its length. It is not part of `npm test`. */
export default defineConfig({
  plugins: [exportedPage()],
  test: {
    include: ['test/soak/**/*.soak.ts'],
    environment: 'node',
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
