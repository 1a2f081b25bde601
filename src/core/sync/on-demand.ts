import { elsewhere, type Held, theHub } from '../artifacts/index.js';
import { type ArtifactNo, type ArtifactRef, type CommitSeq, corrupt, type JsonObject, StemmaError } from '../base/index.js';
import { type Chain, outlineVersion } from '../chain/index.js';
import { decodeOutline } from '../formats/index.js';
import { countCalls } from '../usage/index.js';
import { rememberRecords } from './commits.js';
import type { Hub } from './hub.js';
import { type SentObject, unpackParcel } from './parcel.js';
import { fetchInParts } from './parts.js';

/**
 * Objects that are fetched together, and their bytes: neighbors are usually read next. The first fetch is small, because a first screen waits
 * for it. Each fetch that continues the last one is larger.
 */
const neighborhood = { min: 32, max: 512, minBytes: 192 * 1024, maxBytes: 16 * 1024 * 1024, growth: 4 };
/** Outlines that are fetched together, before and after the one that is read. */
const outlinesAround = 2_000;

/** Where the last fetch of each project ended, and how many objects it was for. */
const lastFetch = new WeakMap<Chain['artifacts'], { readonly end: number; readonly count: number; readonly bytes: number }>();

/** The object that a read was refused for, if only the hub holds it. */
export function heldByHub({ artifacts }: Pick<Chain, 'artifacts'>, refusal: unknown): ArtifactRef | undefined {
  if (!(refusal instanceof StemmaError) || refusal.data.reason !== elsewhere) return undefined;
  const ref = refusal.data.id as ArtifactRef;
  return artifacts.copies.holdersOf(artifacts.find(ref)).includes(theHub) ? ref : undefined;
}

/**
 * Fetches what a read of an object needs. First its outline and those around it, as the hub reads them: a list of entries needs no more. If
 * these are here already, the object itself, with its neighbors: each is proved by its hash and stays, and its outline is made again of it.
 * @throws what the hub throws; CORRUPT if it does not return the object.
 */
export async function fetchFromHub(chain: Chain, hub: Hub, ref: ArtifactRef): Promise<void> {
  const { artifacts } = chain;
  const no = artifacts.find(ref);
  // Another call has fetched it meanwhile.
  if (artifacts.stat(no).gone === undefined) return;
  const outlines = fetchOutlines(chain, hub, no);
  // A first screen needs both soon, and is shown as soon as the outlines are here.
  if (!lastFetch.has(artifacts))
    ahead.set(
      artifacts,
      objectsFrom(hub, nextTo(chain, no)).catch(() => []),
    );
  if (await outlines) return;
  const early = await ahead.get(artifacts);
  ahead.delete(artifacts);
  if (artifacts.stat(no).gone !== undefined) await fetchContents(chain, hub, ref, early);
}

/** Contents that are on their way to each project, or here in memory until a read needs one: to store them takes longer than a screen may wait. */
const ahead = new WeakMap<Chain['artifacts'], Promise<readonly SentObject[]>>();

/** The objects to fetch with an object. */
function nextTo({ artifacts }: Chain, no: ArtifactNo): Held[] {
  const { min, max, minBytes, maxBytes, growth } = neighborhood;
  const last = lastFetch.get(artifacts);
  const continues = last !== undefined && no >= last.end && no <= last.end + last.count;
  const count = continues ? Math.min(max, last.count * growth) : min;
  const bytes = continues ? Math.min(maxBytes, last.bytes * growth) : minBytes;
  const near = artifacts.copies.evictedFrom(no, count, bytes);
  lastFetch.set(artifacts, { end: (near.at(-1)?.no ?? no) + 1, count, bytes });
  return near;
}

/** The objects around which each project asked for outlines: an answer without one, or one that was dropped, is not asked for again. */
const askedAround = new WeakMap<Chain['artifacts'], Set<ArtifactNo>>();

/**
 * Fetches the outlines of commits around an object, into memory only: an outline of the hub is no proof. False if the object has one here, or
 * gets none.
 */
async function fetchOutlines(chain: Chain, hub: Hub, no: ArtifactNo): Promise<boolean> {
  const { db, project, artifacts, outlines } = chain;
  const asked = askedAround.get(artifacts) ?? new Set<ArtifactNo>();
  askedAround.set(artifacts, asked);
  if (asked.has(no)) return false;
  asked.add(no);
  const wanted = db
    .all<{ artifact: ArtifactNo; hash: Buffer; format: string }>(
      `SELECT DISTINCT c.artifact, a.hash, c.format FROM artifact a JOIN context c ON c.artifact = a.no
        WHERE c.project = ? AND a.no BETWEEN ? AND ? AND a.gone = 'evicted' LIMIT ${2 * outlinesAround}`,
      project,
      no - outlinesAround,
      no + outlinesAround,
    )
    .filter(({ artifact, format }) => outlines.get(`${artifact}:${format}`) === undefined);
  if (!wanted.some(({ artifact }) => artifact === no)) return false;
  const { version, outlines: found } = await hub.outlines(wanted.map(({ hash, format }) => [hash.toString('hex'), format]));
  if (version !== outlineVersion) return false;
  for (const [i, { artifact, format }] of wanted.entries()) {
    const data = found[i];
    if (!data) continue;
    const outline = decodeOutline(data);
    outlines.set(`${artifact}:${format}`, outline, outline.entries.length + 1);
  }
  return wanted.some(({ artifact }, i) => artifact === no && typeof found[i] === 'string');
}

/** Fetches objects from the hub. What it returns beyond them is dropped. */
async function objectsFrom(hub: Hub, asked: readonly Held[]): Promise<SentObject[]> {
  const isAsked = new Set<string>(asked.map((each) => each.ref));
  const { objects } = unpackParcel(await hub.objects(asked.map((each) => each.ref.slice('blake3:'.length))), noItems);
  return objects.filter(({ hash }) => isAsked.has(`blake3:${hash}`));
}

async function fetchContents(chain: Chain, hub: Hub, ref: ArtifactRef, early: readonly SentObject[] = []): Promise<void> {
  const { artifacts, db, project } = chain;
  const isRead = ({ hash }: SentObject): boolean => ref.endsWith(hash);
  const no = artifacts.find(ref);
  let found = early.some(isRead) ? early : await objectsFrom(hub, nextTo(chain, no));
  if (!found.some(isRead)) found = [...found, ...(await objectsFrom(hub, [{ no, ref }]))];
  const isLarge = !found.some(isRead) && (await fetchLarge(chain, hub, ref));
  if (!isLarge && !found.some(isRead)) throw corrupt(ref, `The hub does not return ${ref}, which this project reads from it.`);
  artifacts.transaction(() => {
    const nos = found.map(({ hash, bytes }) => {
      const object = artifacts.find(`blake3:${hash}`);
      artifacts.restore(object, bytes);
      return object;
    });
    if (isLarge) nos.push(no);
    const commits = db.all<{ seq: CommitSeq; artifact: ArtifactNo; format: string }>(
      'SELECT seq, artifact, format FROM context WHERE project = ? AND artifact IN (SELECT value FROM json_each(?)) ORDER BY seq',
      project,
      JSON.stringify(nos),
    );
    // From now on the outline comes from the content.
    for (const { artifact, format } of commits) chain.outlines.delete(`${artifact}:${format}`);
    rememberRecords(chain, commits);
    countCalls(
      chain,
      commits.map(({ seq }) => seq),
    );
  });
}

/** Fetches an object that travels in parts. False if it does not. */
async function fetchLarge(chain: Chain, hub: Hub, ref: ArtifactRef): Promise<boolean> {
  const [about] = await hub.about([ref.slice('blake3:'.length)]);
  if (!about?.parts) return false;
  await fetchInParts(chain, hub, ref, about);
  return true;
}

const noItems = (kind: string, _: JsonObject): string => kind;
