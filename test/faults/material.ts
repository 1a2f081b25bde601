import { dirname, join } from 'node:path';
import type { ForProjects } from '../../src/core/project/index.js';
import { openMachineReplicas } from '../../src/core/replicas/index.js';

/** A turn of a Claude Code session: usually small, sometimes too large for a row. */
export function delta(seed: number, turn: number): string {
  const uuid = `w${seed}-${turn}-${Math.floor(performance.now() * 1_000)}`;
  const content = `${uuid} `.repeat(turn % 11 === 10 ? 20_000 : 20 + (turn % 7) * 30);
  return `${JSON.stringify({ type: 'user', uuid, parentUuid: null, sessionId: `s${seed}`, timestamp: new Date().toISOString(), message: { role: 'user', content } })}\n`;
}

/** The settings of the machine that the workers share. */
export const machineOf = (dir: string): ForProjects => ({ replicas: openMachineReplicas(join(dirname(dir), 'machine')) });
