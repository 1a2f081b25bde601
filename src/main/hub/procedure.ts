import { implement, ORPCError } from '@orpc/server';
import { stringAt } from '../../core/base/index.js';
import { asRefusal } from '../../core/router/index.js';
import { hubContract } from '../team/index.js';
import { type Action, callerOf, type GrantHolder, type HubCaller, holderIn, type OpenProject, projectFor } from './access.js';
import type { HubDatabase, InProject } from './database.js';
import type { CommitFormats } from './items.js';
import type { HubMetrics } from './metrics.js';
import type { HubObjects } from './objects.js';
import type { Oidc } from './oidc.js';
import type { Refusals } from './refusals.js';
import { requireOpen, type ShareViews } from './shares.js';

export interface HubContext {
  readonly database: HubDatabase;
  readonly objects: HubObjects;
  readonly viewOf: ShareViews;
  readonly formatsIn: CommitFormats;
  readonly authorization: string | undefined;
  /** The caller, if the door has checked the token already. */
  readonly caller?: HubCaller | undefined;
  /** Notes refused calls in the audit log. */
  readonly refusals?: Refusals | undefined;
  /** The issuer whose tokens are also accepted. */
  readonly oidc?: Oidc | undefined;
  readonly metrics?: HubMetrics | undefined;
  /** Called when a call failed unexpectedly. The message contains no content. */
  readonly onProblem?: ((message: string) => void) | undefined;
}

/** The name of an error without its message, which may contain content. For PostgreSQL, its code is enough. */
export const nameOfError = (error: unknown): string => stringAt(error, 'code') ?? (error instanceof Error ? error.name : 'unknown error');

/** Implements the procedures of the hub. Each gets the caller. */
export const os = implement(hubContract)
  .$context<HubContext>()
  .use(async ({ next, path, context }, input) => {
    const { database, authorization, oidc, metrics, onProblem, refusals } = context;
    const started = performance.now();
    const procedure = path.join('.');
    const called = (code: string): void => metrics?.called(procedure, code, performance.now() - started);
    const project = stringAt(input, 'project');
    let holder: GrantHolder | undefined;
    try {
      holder = holderIn(context.caller ?? (await callerOf(database, authorization, oidc)), project);
      requireOpen(holder, procedure);
      const answer = await next({ context: { holder } });
      called('ok');
      return answer;
    } catch (error) {
      const refusal = asRefusal(error, procedure);
      const isFault = !(refusal instanceof ORPCError);
      called(isFault ? 'INTERNAL_SERVER_ERROR' : refusal.code);
      if (isFault) onProblem?.(`${procedure} failed: ${nameOfError(error)}`);
      else if (holder) await refusals?.note({ holder, project, procedure, code: refusal.code, field: stringAt(refusal.data, 'field') });
      throw refusal;
    }
  });

export type Called = HubContext & { readonly holder: GrantHolder };

/** Opens a project for a call and notes the call in the audit log. */
export async function within<T>(
  { database, holder }: Called,
  name: string,
  action: Action | undefined,
  doing: string,
  work: (tx: InProject, project: OpenProject) => Promise<{ readonly result: T; readonly count: number; readonly what?: string | undefined }>,
): Promise<T> {
  const project = await projectFor(database, holder, name, action);
  const { result } = await database.inProject(project.no, (tx) => work(tx, project), {
    isRead: action === 'read',
    note: ({ count, what }) => (count > 0 ? { by: holder.no, action: doing, count, what } : undefined),
  });
  return result;
}
