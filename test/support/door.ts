import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { onTestFinished } from 'vitest';
import { type AgentProgram, createEngine, createSession, type Git, type Workshop } from '../../src/core/project/index.js';
import { contextOf, router } from '../../src/core/router/index.js';
import type { ModelProvider } from '../../src/core/turns/index.js';
import { type HeldClock, heldClock, scratch } from './project.js';

/** An empty project behind the router, with a fixed clock. */
export function door({
  clock = heldClock(),
  providers = [],
  agents = [],
  agentRoots = [],
  workshop,
  git,
  projectId,
  machine,
}: {
  clock?: HeldClock;
  providers?: readonly ModelProvider[];
  agents?: readonly AgentProgram[];
  workshop?: Workshop;
  git?: Git;
  agentRoots?: Parameters<typeof createEngine>[0]['agentRoots'];
  projectId?: string;
  machine?: string;
} = {}) {
  const folder = scratch();
  const engine = createEngine({
    dataDir: join(folder, 'data'),
    agentRoots,
    agents,
    workshop,
    git,
    sampleDir: folder,
    startup: { paths: [], project: null },
    platform: 'linux',
    machine,
    clock,
    providers,
  });
  const session = createSession(engine);
  const project = session.use(engine.create({ dir: join(folder, 'test'), projectId }));
  onTestFinished(() => engine.close());
  return { client: createRouterClient(router, { context: contextOf(session) }), chain: project.chain, project, session, clock, engine, folder };
}
