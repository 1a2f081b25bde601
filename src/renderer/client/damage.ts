import { create } from 'zustand';
import { type DamagedRows, damageHeader, readDamage } from '../../core/contract/index.js';

/** What the last answer of each procedure said about damaged rows of the open project. */
const useSaid = create<Readonly<Record<string, string>>>(() => ({}));

/** Answers after which earlier ones say nothing any longer: of another project, or of rows that may be repaired. */
const startsAnew = ['project.open', 'project.create', 'project.check'];

interface Answer {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Reads the header about damaged rows of each answer. */
export async function hearDamage<One extends Answer>({ next, path }: { next(): Promise<One>; readonly path: readonly string[] }): Promise<One> {
  const answer = await next();
  const name = path.join('.');
  const header = String(answer.headers[damageHeader] ?? '');
  if (startsAnew.includes(name)) useSaid.setState(header ? { [name]: header } : {}, true);
  else if ((useSaid.getState()[name] ?? '') !== header) useSaid.setState({ [name]: header });
  return answer;
}

/** The damaged rows of the open project that answers were read with, by table. */
export const useDamagedRows = (): DamagedRows => readDamage(Object.values(useSaid()));
