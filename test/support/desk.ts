import { createRouterClient } from '@orpc/server';
import { onTestFinished } from 'vitest';
import { createEngine, createSession, type Engine, type EngineOptions } from '../../src/core/project/index.js';
import { contextOf, router } from '../../src/core/router/index.js';
import { heldClock, scratch } from './project.js';

/** Stemma as one person has it on one machine: a data folder, an engine over it, and a session without a project. */
export interface Desk {
  readonly dataDir: string;
  readonly engine: Engine;
  readonly call: ReturnType<typeof clientOf>;
}

const clientOf = (engine: Engine) => createRouterClient(router, { context: contextOf(createSession(engine)) });

/** Starts Stemma over a data folder, a new one unless it is named. It is closed when the test ends. */
export function desk(dataDir: string = scratch(), more: Partial<EngineOptions> = {}): Desk {
  const engine = createEngine({
    dataDir,
    agentRoots: [],
    sampleDir: dataDir,
    startup: { paths: [], project: null },
    platform: 'linux',
    clock: heldClock(),
    ...more,
  });
  onTestFinished(() => engine.close());
  return { dataDir, engine, call: clientOf(engine) };
}
