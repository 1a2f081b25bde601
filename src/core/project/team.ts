import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { badRequest, StemmaError, unavailable } from '../base/index.js';
import { findCommit } from '../chain/index.js';
import type { InputOf, TeamStatus } from '../contract/index.js';
import * as sync from '../sync/index.js';
import { isUntrusted } from './access.js';
import type { Engine } from './engine.js';
import { isProject } from './manifest.js';
import type { Project } from './project.js';

/** A project of a hub, as a person names it. */
type GivenAddress = Pick<sync.HubAddress, 'hub' | 'project'> & Partial<sync.HubAddress>;

/** The hub of a project, and its address. @throws BAD_REQUEST if the project is not connected, or the engine was started without hubs. */
async function connected(engine: Engine, project: Project) {
  const address = await findAddress(engine, project);
  if (!address) throw badRequest('hub', 'This project is not connected to a hub. Connect it with `stemma push --hub HUB/PROJECT --token TOKEN`.');
  return { address, hub: reach(engine, address) };
}

/** A restricted project has no hub here: it may have copied the id of a project that has one. */
const findAddress = async ({ hubs }: Engine, { access, projectId }: Project): Promise<sync.HubAddress | undefined> =>
  isUntrusted(access) ? undefined : hubs.of(projectId);

function reach({ options }: Engine, address: sync.HubAddress): sync.ManagedHub {
  if (!options.reachHub) throw badRequest('hub', 'This engine was started without hubs.');
  return options.reachHub(address);
}

/**
 * Connects a project with a project of a hub, which is created if it does not exist. Nothing is stored before the hub has answered.
 * @throws UNAVAILABLE, UNAUTHORIZED, NOT_FOUND as the hub answers.
 */
export async function connectTeam(engine: Engine, project: Project, given: GivenAddress): Promise<TeamStatus> {
  const before = await findAddress(engine, project);
  const address = { token: undefined, onDemand: before?.onDemand, ...given };
  const hub = reach(engine, address);
  await hub.hello().catch(async (error: unknown) => {
    if (!(error instanceof StemmaError && error.code === 'NOT_FOUND')) throw error;
    await hub.create();
    await hub.hello();
  });
  await engine.hubs.set(project.projectId, address);
  return teamStatus(engine, project);
}

/** Signs this machine in at a hub. Yields instructions for the person, and ends when the person has followed them. @throws the errors of `PendingSignIn`. */
export async function* signInTeam({ options }: Engine, hub: string, signal?: AbortSignal): AsyncGenerator<Omit<sync.PendingSignIn, 'entered'>> {
  if (!options.signIn) throw badRequest('hub', 'This engine was started without hubs.');
  const { entered, ...code } = await options.signIn(hub);
  yield code;
  await entered(signal);
}

/** The folder of hub projects that are open without a clone, in Stemma's data folder. */
const opened = 'hub projects';

/**
 * Opens a project of a hub without a clone: its records are stored here, and an object is fetched when it is first read. Projects opened with
 * different tokens have different folders. @throws UNAVAILABLE, UNAUTHORIZED, NOT_FOUND as the hub answers.
 */
export async function openTeam(engine: Engine, given: GivenAddress): Promise<Project> {
  const address = { token: undefined, ...given, onDemand: true };
  const hub = reach(engine, address);
  const { id } = await hub.hello();
  const reached = `${id}\0${address.token ?? ''}`;
  const name = createHash('sha256').update(reached).digest('hex').slice(0, 12);
  const dir = join(engine.options.dataDir, opened, `${given.project}-${name}.stemma`);
  const project = isProject(dir) ? engine.open(dir) : engine.create({ dir, name: given.project });
  await engine.hubs.set(project.projectId, address);
  await sync.pull(project.chain, hub, { onDemand: true, place: hubAddressText(address) });
  return project;
}

/**
 * Fetches the object whose read failed with this error, if the hub of the project holds it. Returns false for other errors.
 * @throws UNAVAILABLE if the project has no hub now, or the hub does not answer.
 */
export async function fetchForRead(engine: Engine, project: Project, refusal: unknown): Promise<boolean> {
  const ref = sync.heldByHub(project.chain, refusal);
  if (ref === undefined) return false;
  const address = await findAddress(engine, project);
  if (!address) throw unavailable(`${ref} is on the hub only, and this project is not connected to it. Connect it in Settings, Team.`, { id: ref });
  await sync.fetchFromHub(project.chain, reach(engine, address), ref);
  return true;
}

/** Forgets the hub of a project on this machine. */
export async function disconnectTeam(engine: Engine, project: Project): Promise<TeamStatus> {
  await engine.hubs.set(project.projectId, undefined);
  return teamStatus(engine, project);
}

const troubleOf = ({ code, message }: StemmaError) => ({ problem: message, refused: code === 'UNAUTHORIZED' });

/** Counts the items that a push would send and a pull would read. If the hub does not answer, the result says so; this is no error. */
export async function teamStatus(engine: Engine, project: Project): Promise<TeamStatus> {
  const address = await findAddress(engine, project);
  if (!address) return { hub: null, project: null, role: null, name: null, retention: null, toPush: {}, toPull: null };
  const place = { hub: address.hub, project: address.project };
  try {
    const { id, seq, role, name, retention } = await reach(engine, address).hello();
    const { items, pulled } = sync.previewPush(project.chain, id, leavesWith(undefined, false));
    return { ...place, role, name, retention, toPush: items, toPull: Math.max(0, seq - pulled) };
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
    return { ...place, role: null, name: null, retention: null, toPush: {}, toPull: null, ...troubleOf(error) };
  }
}

/** Counts new items on the project's hub and lists the people there. If the hub does not answer, the result says so; this is no error. */
export async function teamNews(engine: Engine, project: Project) {
  const address = await findAddress(engine, project);
  if (!address) return { hub: null, onDemand: false, toPull: null, me: null, people: [] };
  const onDemand = address.onDemand === true;
  try {
    const { id, seq, name, people } = await reach(engine, address).hello();
    return { hub: address.hub, onDemand, toPull: sync.itemsToPull(project.chain, id, seq), me: name, people: [...people] };
  } catch (error) {
    if (!(error instanceof StemmaError)) throw error;
    return { hub: address.hub, onDemand, toPull: null, me: null, people: [], ...troubleOf(error) };
  }
}

/** Pushes to the hub of the project, or only counts the items. Returns the replacements that redaction made, too. @throws as `connected` and `push`. */
export async function pushTeam(engine: Engine, project: Project, { select, sources = false, preview, redact }: InputOf<'team.push'>) {
  const { chain } = project;
  if (redact && sources) throw badRequest('sources', 'Imported files cannot be redacted. Push without sources, or without redaction.');
  const { hub } = await connected(engine, project);
  const copies = redact ? await sync.redactedCopies(chain, sync.selectedCommits(chain, select ?? {})) : undefined;
  const leaves = copies ? sync.onlyCommits(chain, copies.commits) : leavesWith(select && sync.selected(chain, select), sources);
  const pushed = preview ? sync.previewPush(chain, (await hub.hello()).id, leaves) : await sync.push(chain, hub, { leaves });
  return { ...pushed, ...(copies && { redactions: copies.redactions }) };
}

/** The filter of a push. Imported files are sent only when a person asks for that. */
const leavesWith =
  (own: ReturnType<typeof sync.selected>, sources: boolean): NonNullable<ReturnType<typeof sync.selected>> =>
  (item) =>
    item.kind === 'source' ? sources && own === undefined : own === undefined || own(item);

/** The project on a hub as a person writes it. */
const hubAddressText = ({ hub, project }: Pick<sync.HubAddress, 'hub' | 'project'>): string => `${hub.replace(/\/+$/, '')}/${project}`;

/** Pulls new items from the hub of the project. @throws as `connected` and `pull`. */
export async function pullTeam(engine: Engine, project: Project): Promise<sync.Pulled> {
  const { hub, address } = await connected(engine, project);
  return sync.pull(project.chain, hub, { onDemand: address.onDemand, place: hubAddressText(address) });
}

/** The hub of a project, to manage its members. @throws as `connected`. */
export const teamHub = async (engine: Engine, project: Project): Promise<sync.ManagedHub> => (await connected(engine, project)).hub;

/** Makes a link. First pushes the commits and their ancestors to the hub. @throws as `connected`, `push` and the hub. */
export async function shareCommit(engine: Engine, project: Project, { commit, against, role, expiresAt }: InputOf<'team.share'>) {
  const { hub, address } = await connected(engine, project);
  const row = findCommit(project.chain, commit, 'commit');
  const other = against === undefined ? undefined : findCommit(project.chain, against, 'against');
  for (const each of other ? [row, other] : [row]) await sync.push(project.chain, hub, { leaves: sync.selected(project.chain, { branch: each.id }) });
  const name = other ? `Link to ${row.id} against ${other.id}` : `Link to ${row.id}`;
  const { id, token } = await hub.share({ commit: row.digest.toString('hex'), against: other?.digest.toString('hex'), name, role, expiresAt });
  return { id, token, url: `${address.hub.replace(/\/+$/, '')}/share/${address.project}/${token}` };
}
