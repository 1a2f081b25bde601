import type { ContractClient } from '../launch/index.js';
import { line, say } from '../terminal/index.js';

/**
 * Makes the daily backup at the end of a command that wrote to a project, because the engine of a command has no idle time. A failed backup is only
 * reported; the result of the command stays.
 */
export async function backUpDaily(client: ContractClient): Promise<void> {
  const problem = await client.project.backUp({ ifDue: true }).then(
    (report) => report.problem,
    (error: Error) => error.message,
  );
  if (problem !== undefined) say(line`stemma: no backup was made: ${problem}`);
}
