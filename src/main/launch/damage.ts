import { AsyncLocalStorage } from 'node:async_hooks';
import { type DamagedRows, damageHeader, damageInWords, readDamage } from '../../core/base/index.js';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const running = new AsyncLocalStorage<Map<string, number>>();

/** Runs work, and adds the damaged rows that the answers of its calls name to `rows`. */
export const hearing = <T>(rows: Map<string, number>, work: () => T): T => running.run(rows, work);

/** Adds what the header of an answer says to the rows of the work that made the call. */
export function hear(header: string | readonly string[] | undefined): void {
  for (const [table, count] of readDamage(header)) running.getStore()?.set(table, count);
}

/** Reads the header about damaged rows of each answer that a client gets. */
export async function hearDamage<Answer extends { readonly headers: Headers }>({ next }: { next(): Promise<Answer> }): Promise<Answer> {
  const answer = await next();
  hear(answer.headers[damageHeader]);
  return answer;
}

/** What a person or an agent is told about damaged rows. */
export const damageSentence = (rows: DamagedRows): string =>
  `Some records of this project are damaged: ${damageInWords(rows)}. Answers from them may be wrong. Run "stemma fsck" to see what is intact, and "stemma fsck --repair" to restore it.`;
