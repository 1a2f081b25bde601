import { AsyncLocalStorage } from 'node:async_hooks';

const running = new AsyncLocalStorage<Set<string>>();

/** More statements of one piece of work are not remembered: what it started may go on for hours. */
const mostStatements = 1_000;

/** Runs work and adds each statement that it runs on any connection of this thread to `statements`, also after it waited. */
export const traced = <T>(statements: Set<string>, work: () => T): T => running.run(statements, work);

/** Remembers a statement for the traced work that runs it. */
export function trace(sql: string): void {
  const statements = running.getStore();
  if (statements && statements.size < mostStatements) statements.add(sql);
}
