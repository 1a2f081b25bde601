import type { GrantHolder, HubCaller } from './access.js';
import { addToAudit, type HubDatabase } from './database.js';

/** A call that the hub refused. It names no content. */
interface RefusedCall {
  /** Undefined for a call without a valid token. */
  readonly holder?: (Pick<GrantHolder, 'no' | 'name' | 'project'> & HubCaller) | undefined;
  readonly project?: string | undefined;
  readonly address?: string | undefined;
  readonly procedure: string;
  readonly code: string;
  readonly field?: string | undefined;
}

/** Notes refused calls in the audit log. Equal refusals of one caller within a minute are two lines: the first, and the number of the others. */
export type Refusals = ReturnType<typeof openRefusals>;

const windowMs = 60_000;
/** The most different refusals within a minute. Further ones are not noted, because a caller could invent them. */
const maxWaiting = 1_000;

/** A text that the caller chose, as the database can store it. No name of a project or field is longer. */
const shortened = (text: string | undefined): string | undefined => text?.slice(0, 100).replaceAll('\0', '');

/** Opens the notes. A note that cannot be written does not change the answer to the call. */
export function openRefusals({ all }: HubDatabase) {
  const waiting = new Map<string, { readonly write: (count: number) => Promise<void>; count: number; readonly timer: NodeJS.Timeout }>();
  const write = async ({ holder, procedure, ...call }: RefusedCall, project: number | null, count: number): Promise<void> => {
    const what = [call.code, call.field, call.address].filter((each) => each !== undefined).join(' ');
    await addToAudit(all, { project, by: holder?.name ?? 'unknown', action: `refused ${procedure}`, count, what }).catch(() => {});
  };
  const end = async (name: string): Promise<void> => {
    const noted = waiting.get(name);
    waiting.delete(name);
    clearTimeout(noted?.timer);
    if (noted && noted.count > 0) await noted.write(noted.count);
  };
  const projectOf = async ({ holder, project }: RefusedCall): Promise<number | null> => {
    if (!holder || holder.project !== null || project === undefined) return holder?.project ?? null;
    return (await all.selectFrom('project').select('no').where('name', '=', project).executeTakeFirst())?.no ?? null;
  };
  return {
    note: async (given: RefusedCall): Promise<void> => {
      const call = { ...given, project: shortened(given.project), field: shortened(given.field) };
      const name = [call.holder?.no ?? call.address, call.project, call.procedure, call.code, call.field].join(' ');
      const noted = waiting.get(name);
      if (noted) {
        noted.count += 1;
        return;
      }
      if (waiting.size >= maxWaiting) return;
      const project = projectOf(call).catch(() => null);
      const timer = setTimeout(() => void end(name), windowMs).unref();
      waiting.set(name, { count: 0, timer, write: async (count) => write(call, await project, count) });
      await write(call, await project, 1);
    },
    close: async (): Promise<void> => {
      for (const name of [...waiting.keys()]) await end(name);
    },
  };
}
