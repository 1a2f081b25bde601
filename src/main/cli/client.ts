import { existsSync } from 'node:fs';
import { createRouterClient } from '@orpc/server';
import { createSession } from '../../core/project/index.js';
import { router } from '../../core/router.js';
import { startEngine } from '../engine/index.js';
import type { ContractClient } from '../launch/index.js';
import { engineOptions, findProject } from '../launch/index.js';

/** The contract in this very process, and the project folder that it works on, where there is one. */
export interface Connection {
  client: ContractClient;
  close(): void;
}

export function connect(): Connection {
  const engine = startEngine(engineOptions());
  const client = createRouterClient(router, { context: { session: createSession(engine) } }) as ContractClient;
  return { client, close: () => engine.close() };
}

/**
 * Opens the project that what is read of agents goes to: the one that a command works on, which is made where it is named and not
 * there, else the person's own for histories.
 */
export async function openWhereItGoes(client: ContractClient, named: string | undefined): Promise<{ dir: string; made: boolean }> {
  const dir = findProject(named) ?? (await client.library.home({})).dir;
  const made = !existsSync(dir);
  await (made ? client.project.create({ dir }) : client.project.open({ dir }));
  return { dir, made };
}
