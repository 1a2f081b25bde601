import { looksLikePerson, parseJson } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { Performer, PermissionMode, PolicyRule, permissionModes } from '../contract/index.js';
import { toolsIn } from './jobs.js';
import type { AskedBy } from './work-kind.js';

export interface Rights {
  readonly performer: Performer;
  readonly tools?: readonly string[] | undefined;
  readonly otherTools?: PolicyRule['otherTools'];
}

/** The permission modes from the least to the most rights. */
const byRights: readonly PermissionMode[] = ['plan', 'default', 'acceptEdits', 'bypassPermissions'] satisfies (typeof permissionModes)[number][];

/** Whether a name is that of a person: of somebody at a machine, or of a member of a space. */
const isPerson = ({ db, project }: ReadChain, name: string): boolean =>
  looksLikePerson(
    name,
    db.all<Record<'entityId' | 'name', string>>("SELECT entityId, name FROM entity WHERE project = ? AND type = 'human'", project),
  );

/** The name in which the tools of a job act. Who does the work of a person does not become that person. */
export function actorOf(chain: ReadChain, who: string | null, performer: Performer): string {
  if (who !== null && !isPerson(chain, who)) return who;
  return 'agent' in performer ? `agent:${performer.agent}` : `model:${performer.provider}`;
}

/** The rights of the jobs in which an agent worked at a time; undefined if it worked in none, as a person does. */
export function rightsAt(chain: ReadChain, { who, at }: AskedBy): Rights | undefined {
  const jobs = chain.db.all<{ who: string | null; performer: string; tools: string | null; otherTools: PolicyRule['otherTools'] | null }>(
    'SELECT who, performer, tools, otherTools FROM job WHERE project = ? AND startedAt <= ? AND (endedAt IS NULL OR endedAt >= ?) ORDER BY no DESC',
    [chain.project, at, at],
  );
  const held = jobs.flatMap((job): Rights[] => {
    const performer = parseJson(job.performer) as unknown as Performer;
    const rights = { performer, tools: toolsIn(job.tools), otherTools: job.otherTools ?? undefined };
    return actorOf(chain, job.who, performer) === who ? [rights] : [];
  });
  return held.length > 0 ? held.reduce(lesserOf) : undefined;
}

/** The lesser of two rights: the tools that both have, the stricter permission mode, and no tool of a stranger if one refuses it. */
export function lesserOf(own: Rights, held: Rights): Rights {
  const tools = own.tools && held.tools ? own.tools.filter((name) => held.tools?.includes(name)) : (own.tools ?? held.tools);
  const otherTools = own.otherTools === 'stop' || held.otherTools === 'stop' ? 'stop' : own.otherTools;
  const { performer } = own;
  if (!('agent' in performer)) return { performer, tools, otherTools };
  // A model changes no files, so what it hands out asks before each change.
  const modes = [performer.permissions ?? 'default', 'agent' in held.performer ? (held.performer.permissions ?? 'default') : 'default'] as const;
  const permissions = byRights[Math.min(...modes.map((mode) => byRights.indexOf(mode)))] ?? 'default';
  return { performer: { ...performer, permissions }, tools, otherTools };
}
