import { badRequest, type ContextId, StemmaError, type Timestamp } from '../base/index.js';
import { commitOf } from '../chain/index.js';
import type { TeamStatus } from '../contract/index.js';
import type { Redaction } from '../export/index.js';
import {
  type HubAddress,
  itemsToPull,
  type ManagedHub,
  onlyCommits,
  type Pulled,
  type Pushed,
  previewPush,
  pull,
  push,
  redactedCopies,
  type Selection,
  selected,
  selectedCommits,
} from '../sync/index.js';
import { isUntrusted } from './access.js';
import type { Engine } from './engine.js';
import type { Project } from './project.js';

/** The hub of a project, and the address by which this machine reaches it. */
interface Connected {
  readonly address: HubAddress;
  readonly hub: ManagedHub;
}

/** @throws BAD_REQUEST if the project is not connected, or the engine was started without hubs. */
async function connected(engine: Engine, project: Project): Promise<Connected> {
  const address = await addressOf(engine, project);
  if (!address) throw badRequest('hub', 'This project is not connected to a hub. Connect it with `stemma push --hub HUB/PROJECT --token TOKEN`.');
  return { address, hub: reach(engine, address) };
}

/** A restricted project may have the id of another project that has a hub here. */
const addressOf = async ({ hubs }: Engine, { access, projectId }: Project): Promise<HubAddress | undefined> =>
  isUntrusted(access) ? undefined : hubs.of(projectId);

function reach({ options }: Engine, address: HubAddress): ManagedHub {
  if (!options.reachHub) throw badRequest('hub', 'This engine was started without hubs.');
  return options.reachHub(address);
}

/**
 * Connects a project with a project of a hub, which is created if it does not exist. Nothing is stored before the hub has answered.
 * @throws UNAVAILABLE, UNAUTHORIZED, NOT_FOUND as the hub answers.
 */
export async function connectTeam(
  engine: Engine,
  project: Project,
  given: Pick<HubAddress, 'hub' | 'project'> & Partial<HubAddress>,
): Promise<TeamStatus> {
  const address = { token: undefined, ...given };
  const hub = reach(engine, address);
  await hub.hello().catch(async (error: unknown) => {
    if (!(error instanceof StemmaError && error.code === 'NOT_FOUND')) throw error;
    await hub.create();
    await hub.hello();
  });
  await engine.hubs.set(project.projectId, address);
  return teamStatus(engine, project);
}

/** Forgets the hub of a project on this machine. */
export async function disconnectTeam(engine: Engine, project: Project): Promise<TeamStatus> {
  await engine.hubs.set(project.projectId, undefined);
  return teamStatus(engine, project);
}

/** What a push would send and a pull would read. A hub that does not answer is a problem in the answer, not an error. */
export async function teamStatus(engine: Engine, project: Project): Promise<TeamStatus> {
  const address = await addressOf(engine, project);
  if (!address) return { hub: null, project: null, role: null, name: null, toPush: {}, toPull: null };
  const place = { hub: address.hub, project: address.project };
  try {
    const { id, seq, role, name } = await reach(engine, address).hello();
    const { items, pulled } = previewPush(project.chain, id, leavesWith(undefined, false));
    return { ...place, role, name, toPush: items, toPull: Math.max(0, seq - pulled) };
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
    return { ...place, role: null, name: null, toPush: {}, toPull: null, problem: error.message };
  }
}

/** What is new on the hub of the project, and who else is there. A hub that does not answer is a problem in the answer, not an error. */
export async function teamNews(engine: Engine, project: Project) {
  const address = await addressOf(engine, project);
  if (!address) return { hub: null, toPull: null, people: [] };
  try {
    const { id, seq, people } = await reach(engine, address).hello();
    return { hub: address.hub, toPull: itemsToPull(project.chain, id, seq), people: [...people] };
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
    return { hub: address.hub, toPull: null, people: [], problem: error.message };
  }
}

/** What a person chose to push. */
export interface PushChoice {
  readonly select?: Selection | undefined;
  readonly sources?: boolean | undefined;
  readonly preview?: boolean | undefined;
  /** Send copies of commits without secrets of known patterns, and nothing but commits. */
  readonly redact?: boolean | undefined;
}

/** What a push sent, and what was replaced before. */
export interface TeamPushed extends Pushed {
  readonly redactions?: readonly Redaction[];
}

/** Sends to the hub of the project, or counts what would leave. @throws as `connected` and `push`. */
export async function pushTeam(engine: Engine, project: Project, { select, sources = false, preview, redact }: PushChoice): Promise<TeamPushed> {
  const { chain } = project;
  if (redact && sources) throw badRequest('sources', 'Imported files cannot be redacted. Push without sources, or without redaction.');
  const { hub } = await connected(engine, project);
  const copies = redact ? await redactedCopies(chain, selectedCommits(chain, select ?? {})) : undefined;
  const leaves = copies ? onlyCommits(chain, copies.commits) : leavesWith(select && selected(chain, select), sources);
  const pushed = preview ? previewPush(chain, (await hub.hello()).id, leaves) : await push(chain, hub, { leaves });
  return { ...pushed, ...(copies && { redactions: copies.redactions }) };
}

/** Imported files leave only when a person asks for that. */
const leavesWith =
  (own: ReturnType<typeof selected>, sources: boolean): NonNullable<ReturnType<typeof selected>> =>
  (item) =>
    item.kind === 'source' ? sources && own === undefined : own === undefined || own(item);

/** Takes over what the hub of the project has. @throws as `connected` and `pull`. */
export async function pullTeam(engine: Engine, project: Project): Promise<Pulled> {
  return pull(project.chain, (await connected(engine, project)).hub);
}

/** The hub of a project, to manage its members. @throws as `connected`. */
export const teamHub = async (engine: Engine, project: Project): Promise<ManagedHub> => (await connected(engine, project)).hub;

/** A link to a commit. */
export interface ShareChoice {
  readonly commit: ContextId;
  readonly role: 'reader' | 'reviewer';
  readonly expiresAt?: Timestamp | undefined;
}

/** Makes a link to a commit. The hub gets the commit first, with what comes before it. @throws as `connected`, `push` and the hub. */
export async function shareCommit(engine: Engine, project: Project, { commit, role, expiresAt }: ShareChoice) {
  const { hub, address } = await connected(engine, project);
  const row = commitOf(project.chain, commit, 'commit');
  await push(project.chain, hub, { leaves: selected(project.chain, { branch: row.id }) });
  const { id, token } = await hub.share({ commit: row.digest.toString('hex'), name: `Link to ${row.id}`, role, expiresAt });
  return { id, token, url: `${address.hub.replace(/\/+$/, '')}/share/${address.project}/${token}` };
}
