import { sql, type Transaction } from 'kysely';
import { badRequest, firstOf, notFound, StemmaError, toTimestamp } from '../../core/base/index.js';
import type { HubRole } from '../../core/sync/index.js';
import type { NewMember } from '../team/index.js';
import { allows, type GrantHolder, newToken, projectFor, projectsOf, refusal, requireAction } from './access.js';
import { addToAudit, type Tables } from './database.js';
import { hashName } from './names.js';
import { type Called, os } from './procedure.js';

/**
 * Locks the caller's own token until the end of the transaction, so that nothing it makes survives a revocation at the same time: either the caller is
 * revoked before, and makes nothing, or after, and what it made ends with it. @throws UNAUTHORIZED
 */
async function holdFast(tx: Transaction<Tables>, { no }: GrantHolder): Promise<void> {
  const { rows } = await sql`SELECT no FROM token WHERE no = ${no} AND revoked_at IS NULL FOR SHARE`.execute(tx);
  if (rows.length === 0) throw refusal('This token was revoked.');
}

/** Stores a token, or the role of an identity. A member who signs in has one role per project, so a new role replaces it. */
async function addMember({ database, holder }: Called, input: NewMember, given: string | null) {
  requireAction(holder, 'administer');
  if (input.project === null && holder.project !== null)
    throw new StemmaError('UNAUTHORIZED', 'This token is for one project and gives no access to others. Name the project.', { field: 'project' });
  const project = input.project === null ? null : (await projectFor(database, holder, input.project, 'administer')).no;
  const { token, hash } = newToken();
  const identity = given?.includes('@') ? given.toLowerCase() : given;
  const expires_at = expiryWithin(input.expiresAt, holder);
  return database.all.transaction().execute(async (tx) => {
    await holdFast(tx, holder);
    const earlier =
      identity === null
        ? []
        : await tx
            .updateTable('token')
            .set({ revoked_at: new Date() })
            .where('identity', '=', identity)
            .where('project', 'is not distinct from', project)
            .where('revoked_at', 'is', null)
            .returning('no')
            .execute();
    const { no } = await tx
      .insertInto('token')
      .values({ hash, name: input.name, role: input.role, project, expires_at, identity, made_by: holder.no })
      .returning('no')
      .executeTakeFirstOrThrow();
    const ended = await takeOver(tx, { no, role: input.role, expiresAt: expires_at }, earlier);
    const action = `add ${input.role} ${input.name}`;
    await addToAudit(tx, { project, by: holder.name, action, count: 1 + ended.length, what: whatEnded(ended) });
    return { id: no, token };
  });
}

/** Gives what a person made to their new role, which is the same person. Returns what ended, because the new role could not make it. */
async function takeOver(
  tx: Transaction<Tables>,
  { no, role, expiresAt }: { readonly no: number; readonly role: HubRole; readonly expiresAt: Date | null },
  earlier: readonly { readonly no: number }[],
): Promise<Made[]> {
  if (earlier.length === 0) return [];
  const mayStay = (isLink: boolean): boolean => (isLink ? allows({ role }, 'write') && allows({ role }, 'read') : allows({ role }, 'administer'));
  const before = earlier.map((row) => row.no);
  const made = await tx
    .updateTable('token')
    .set({ made_by: no })
    .where('made_by', 'in', before)
    // Somebody who gives themselves a new role made it.
    .where('no', '<>', no)
    .where('revoked_at', 'is', null)
    .returning(['no', 'shared'])
    .execute();
  const staying = made.filter(({ shared }) => mayStay(shared !== null)).map((row) => row.no);
  const ended = await endMadeBy(tx, no, staying);
  if (expiresAt !== null)
    await sql`
      WITH RECURSIVE below (no) AS (
        SELECT no FROM token WHERE made_by = ${no} UNION SELECT t.no FROM token t JOIN below b ON t.made_by = b.no
      ) UPDATE token SET expires_at = least(expires_at, ${expiresAt}) WHERE no IN (SELECT no FROM below) AND revoked_at IS NULL`.execute(tx);
  return ended;
}

/** When a token ends: no later than that of its maker. @throws BAD_REQUEST for an end that has passed by the hub's clock */
function expiryWithin(given: string | undefined, { expiresAt }: GrantHolder): Date | null {
  const asked = given === undefined ? null : new Date(given);
  const now = Date.now();
  if (asked !== null && asked.getTime() <= now)
    throw badRequest('expiresAt', `expiresAt is ${given}, which has passed: by the clock of the hub it is ${toTimestamp(now)}.`);
  return asked === null || (expiresAt !== null && expiresAt < asked) ? expiresAt : asked;
}

/**
 * Ends the valid tokens and links that a member made, and those that these made. Not those that stay (`keep`). Each round ends what the last one's
 * tokens had made until they were locked, so that nothing is made behind it.
 */
async function endMadeBy(tx: Transaction<Tables>, no: number, keep: readonly number[]): Promise<Made[]> {
  const ended: Made[] = [];
  for (let makers: readonly number[] = [no]; makers.length > 0; ) {
    const { rows } = await sql<Made>`
      UPDATE token SET revoked_at = now()
       WHERE made_by = ANY(${sql.val([...makers])}::integer[]) AND revoked_at IS NULL AND no <> ALL(${sql.val([...keep])}::integer[])
      RETURNING no AS id, name, role, shared IS NOT NULL AS "isLink"`.execute(tx);
    ended.push(...rows);
    makers = rows.map(({ id }) => id);
  }
  return ended.sort((a, b) => a.id - b.id);
}

interface Made {
  readonly id: number;
  readonly name: string;
  readonly role: HubRole;
  readonly isLink: boolean;
}

export const members = {
  list: os.members.list.handler(async ({ input, context: { database, holder } }) => {
    const project = await projectFor(database, holder, input.project, 'administer');
    const rows = await database.all
      .selectFrom('token')
      .leftJoin('project', 'project.no', 'token.project')
      .select(['token.no as id', 'token.name', 'token.role', 'token.identity', 'token.made_by as madeBy', 'project.name as project'])
      .select(['token.created_at as createdAt', 'expires_at as expiresAt', 'revoked_at as revokedAt', 'shared'])
      .where((where) => where.or([where('token.project', '=', project.no), where('token.project', 'is', null)]))
      .orderBy('token.no')
      .execute();
    return rows.map(({ createdAt, expiresAt, revokedAt, shared, ...row }) => ({
      ...row,
      createdAt: toTimestamp(createdAt.getTime()),
      expiresAt: expiresAt && toTimestamp(expiresAt.getTime()),
      revoked: revokedAt !== null,
      isLink: shared !== null,
    }));
  }),
  add: os.members.add.handler(({ input, context }) => addMember(context, input, null)),
  // A member who signs in has no token, so nobody gets this one.
  grant: os.members.grant.handler(async ({ input, context }) => ({ id: (await addMember(context, input, input.identity)).id })),
  share: os.members.share.handler(async ({ input, context: { database, holder } }) => {
    requireAction(holder, 'write');
    const { name, role, expiresAt } = input;
    const project = await projectFor(database, holder, input.project, 'read');
    const commits = [input.commit, input.against].flatMap((digest) => (digest === undefined ? [] : [hashName('context', digest)]));
    for (const commit of commits) {
      const isHere = await database.inProject(project.no, (tx) =>
        tx.selectFrom('item').select('seq').where('name', '=', commit).limit(1).executeTakeFirst(),
      );
      if (!isHere) throw notFound(input.commit, 'The hub does not hold this commit yet. Push it first.');
    }
    const [shared, against] = commits;
    const { token, hash } = newToken();
    return database.all.transaction().execute(async (tx) => {
      await holdFast(tx, holder);
      const { no } = await tx
        .insertInto('token')
        .values({ hash, name, role, project: project.no, expires_at: expiryWithin(expiresAt, holder), shared, against, made_by: holder.no })
        .returning('no')
        .executeTakeFirstOrThrow();
      await addToAudit(tx, { project: project.no, by: holder.name, action: `share ${input.commit}`, count: 1 });
      return { id: no, token };
    });
  }),
  revoke: os.members.revoke.handler(async ({ input, context: { database, holder } }) => {
    const admin = holder.grants.filter((grant) => allows(grant, 'administer'));
    const isAdminOfAll = admin.some(({ project }) => project === null);
    const own = holder.grants.map(({ no }) => no);
    return database.all.transaction().execute(async (tx) => {
      // The member that made a link may end it.
      const row = await tx
        .updateTable('token')
        .set({ revoked_at: new Date() })
        .where('no', '=', input.id)
        .$if(!isAdminOfAll, (query) =>
          query.where((where) =>
            where.or([
              ...(admin.length > 0 ? [where('project', 'in', projectsOf(admin))] : []),
              where('made_by', 'in', own).and('shared', 'is not', null),
            ]),
          ),
        )
        .returning(['project', 'name'])
        .executeTakeFirst();
      if (!row) throw notFound(String(input.id), `No token ${input.id} exists, or this token may not revoke it.`);
      // What a person made ends with that person. What stays belongs to whoever keeps it, and the caller's own token stays.
      const kept = [...new Set([...input.keep, ...own])];
      const made = await endMadeBy(tx, input.id, kept);
      const ended = [input.id, ...made.map(({ id }) => id)];
      await tx
        .updateTable('token')
        .set({ made_by: holder.no })
        .where('made_by', 'in', ended)
        .where('no', 'in', kept)
        .where('no', 'not in', own)
        .execute();
      await tx.updateTable('token').set({ made_by: null }).where('made_by', 'in', ended).where('no', 'in', own).execute();
      await addToAudit(tx, { project: row.project, by: holder.name, action: `revoke ${row.name}`, count: ended.length, what: whatEnded(made) });
      return { id: input.id, made };
    });
  }),
};

const whatEnded = (made: readonly Made[]): string | undefined =>
  made.length === 0
    ? undefined
    : `with what it made: ${firstOf(
        made.map(({ id, name }) => `${id} ${name}`),
        20,
      )}`;
