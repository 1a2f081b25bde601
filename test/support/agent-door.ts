import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentOrder, AgentPiece, AgentProgram } from '../../src/core/project/index.js';
import { door } from './door.js';
import { scratch } from './project.js';

/** A project and a program in place of Claude Code, which writes a session as Claude Code does. */
export function agentDoor(work: (order: AgentOrder, signal: AbortSignal, write: (lines: string) => void) => AsyncGenerator<AgentPiece>) {
  const root = scratch();
  const orders: AgentOrder[] = [];
  const program: AgentProgram = {
    ...{ agent: 'claude-code', title: 'Claude Code', resume: true, permissions: true, mcp: true, problem: () => null },
    async *run(order, signal) {
      orders.push(order);
      const path = order.resume?.path ?? join(root, 'projects', '-work', 'own.jsonl');
      mkdirSync(dirname(path), { recursive: true });
      yield { kind: 'session', sessionId: order.resume?.sessionId ?? 'own', path };
      yield* work(order, signal, (lines) => appendFileSync(path, lines));
    },
  };
  return { ...door({ agents: [program], agentRoots: [{ agent: 'claude-code', root }] }), root, orders };
}
