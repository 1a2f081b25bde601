import { dirname, join } from 'node:path';
import type { ForProjects } from '../../src/core/project/index.js';
import { openMachineReplicas } from '../../src/core/replicas/index.js';

/** A turn of a Claude Code session: usually small, sometimes too large for a row. */
export function delta(seed: number, turn: number): string {
  const uuid = `w${seed}-${turn}-${Math.floor(performance.now() * 1_000)}`;
  const content = `${uuid} `.repeat(turn % 11 === 10 ? 20_000 : 20 + (turn % 7) * 30);
  return `${JSON.stringify({ type: 'user', uuid, parentUuid: null, sessionId: `s${seed}`, timestamp: new Date().toISOString(), message: { role: 'user', content } })}\n`;
}

/** A file of a session of Claude Code whose prompts have so many characters. */
export function sessionOf(session: number, prompts: number, characters: number): string {
  const sessionId = `${String(session).padStart(8, '0')}-0000-4000-8000-000000000019`;
  let parentUuid: string | null = null;
  return Array.from({ length: prompts * 2 }, (_, at) => {
    const uuid = `${sessionId}-${at}`;
    const role = at % 2 ? 'assistant' : 'user';
    const content = `${uuid} `.repeat(Math.ceil(characters / uuid.length));
    const timestamp = new Date(1_770_000_000_000 + at * 1_000).toISOString();
    const message = at % 2 ? { id: `msg-${uuid}`, role, model: 'm', content, usage: { input_tokens: 9, output_tokens: 3 } } : { role, content };
    const line = JSON.stringify({ type: role, uuid, parentUuid, sessionId, timestamp, message });
    parentUuid = uuid;
    return `${line}\n`;
  }).join('');
}

/** The settings of the machine that the workers share. */
export const machineOf = (dir: string): ForProjects => ({ replicas: openMachineReplicas(join(dirname(dir), 'machine')) });
