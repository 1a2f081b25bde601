import type { ContractClient } from '../launch/index.js';
import { line, say } from '../terminal/index.js';

/** Makes the daily backup at the end of a command that wrote. A backup that fails is only reported: the result of the command stays. */
export async function backUpDaily(client: ContractClient): Promise<void> {
  const problem = await client.project.backUp({ ifDue: true }).then(
    (report) => report.problem,
    (error: Error) => error.message,
  );
  if (problem !== undefined) say(line`stemma: no backup was made: ${problem}`);
}
