import { implement } from '@orpc/server';
import { stringAt } from '../../core/base/index.js';
import { asRefusal } from '../../core/router/index.js';
import { hubContract } from '../team/index.js';
import { type Action, type Holder, holderOf, type OpenProject, projectFor } from './access.js';
import type { HubDatabase, InProject } from './database.js';
import type { HubMetrics } from './metrics.js';
import type { HubObjects } from './objects.js';
import type { Oidc } from './oidc.js';
import { requireOpen } from './shares.js';

/** What every call works with. */
export interface HubContext {
  readonly database: HubDatabase;
  readonly objects: HubObjects;
  /** The `Authorization` header. */
  readonly authorization: string | undefined;
  /** The issuer whose tokens are accepted as well. */
  readonly oidc?: Oidc | undefined;
  readonly metrics?: HubMetrics | undefined;
}

/** Implements the procedures of the hub. Each knows who calls. */
export const os = implement(hubContract)
  .$context<HubContext>()
  .use(async ({ next, path, context: { database, authorization, oidc, metrics } }, input) => {
    const started = performance.now();
    const called = (code: string): void => metrics?.called(path.join('.'), code, performance.now() - started);
    try {
      const holder = await holderOf(database, { authorization, oidc, project: stringAt(input, 'project') });
      requireOpen(holder, path.join('.'));
      const answer = await next({ context: { holder } });
      called('ok');
      return answer;
    } catch (error) {
      const refusal = asRefusal(error, path.join('.'));
      called(stringAt(refusal, 'code') ?? 'INTERNAL_SERVER_ERROR');
      throw refusal;
    }
  });

/** What a procedure works with. */
export type Called = HubContext & { readonly holder: Holder };

/** Opens a project for a call and notes the call in the audit log. */
export async function within<T>(
  { database, holder }: Called,
  name: string,
  action: Action | undefined,
  what: string,
  work: (tx: InProject, project: OpenProject) => Promise<{ readonly result: T; readonly count: number }>,
): Promise<T> {
  const project = await projectFor(database, holder, name, action);
  const { result } = await database.inProject(project.no, (tx) => work(tx, project), {
    isRead: action === 'read',
    note: ({ count }) => (count > 0 ? { by: holder.no, action: what, count } : undefined),
  });
  return result;
}
