import { commitAt, commitEndingAt, otherSessionOf, principalTaken, type ReadChain, type WriteChain } from '../chain/index.js';
import type { StorableCommit, StorablePlan } from './ahead.js';
import type { SourceRow } from './sources.js';

/** Facts that the recorder of a session knows about its commits. They override those in the file. */
export interface Signed {
  readonly principal?: string | undefined;
  readonly ticketId?: string | undefined;
  readonly machine?: string | undefined;
  /** Refuse a principal that another session has. Otherwise the session is recorded under its own principal, and the refusal is reported. */
  readonly isStrict?: boolean | undefined;
}

const maxNameLength = 400;

type Named = Pick<StorableCommit, 'principal' | 'sessionId' | 'template'>;

/** A principal is one session of an agent: two sessions in a folder are two principals (C26). A subagent is named by its template. */
export function principalOf({ principal, sessionId, template }: Named): string | undefined {
  if (principal === undefined || sessionId === undefined) return principal;
  const own = template.includes('/') ? `${template}${principal.slice(principal.indexOf('@'))}` : principal;
  return `${own.slice(0, Math.max(1, maxNameLength - 1 - sessionId.length))}#${sessionId}`.slice(0, maxNameLength);
}

/** The principal of a commit whose session was signed. A subagent of that session has its own name (C26). */
export function signedName(principal: string, { template }: Pick<Named, 'template'>): string {
  const under = template.includes('/') ? template.slice(template.indexOf('/')) : '';
  return principal.endsWith(under) ? principal : `${principal}${under}`.slice(0, maxNameLength);
}

/**
 * The owner of a file's new commits (C26). A session that was signed before keeps its principal. A principal that an unrelated session has
 * is left out, with the reason in `problem`. @throws CONFLICT instead if `isStrict`.
 */
export function signedFor(
  chain: WriteChain,
  { signed = {}, plan, grown }: { readonly signed: Signed | undefined; readonly plan: StorablePlan; readonly grown: SourceRow | undefined },
): Signed & { readonly problem?: string } {
  const [first] = plan.commits;
  const sessionId = first?.sessionId ?? plan.sessionId ?? grown?.sessionId ?? undefined;
  const owner = signed.isStrict && signed.principal !== undefined ? undefined : ownerOf(chain, first, grown);
  if (owner !== undefined) return { ...signed, principal: owner };
  if (signed.principal === undefined || sessionId === undefined) return signed;
  // A fork of a session copies the records of the earlier one, or continues from one of them.
  const own = first?.records.at(-1);
  const before = first?.parent && 'record' in first.parent ? first.parent : own === undefined ? undefined : { record: own };
  const last = grown?.tips.at(-1) ?? (before === undefined ? undefined : commitEndingAt(chain, before)?.seq) ?? null;
  const other = otherSessionOf(chain, { principal: signed.principal, sessionId, parent: last });
  if (other === undefined) return signed;
  const refusal = principalTaken(signed.principal, other);
  if (signed.isStrict) throw refusal;
  const { principal: _, ...others } = signed;
  return { ...others, problem: refusal.message };
}

/** The principal under which the earlier part of a session was recorded, if a person chose its name. */
function ownerOf(chain: ReadChain, first: Named | undefined, grown: SourceRow | undefined): string | undefined {
  const tip = grown?.tips.at(-1);
  if (first === undefined || tip === undefined) return undefined;
  const { principal, template } = commitAt(chain, tip);
  const isUsual = principal === null || principal === first.principal || principal === principalOf({ ...first, template });
  return isUsual ? undefined : principal;
}
