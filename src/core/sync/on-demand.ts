import { countTools } from '../analysis/index.js';
import { elsewhere, type Held, refOfHash, theHub } from '../artifacts/index.js';
import { type ArtifactNo, type ArtifactRef, type CommitSeq, corrupt, orUndefined, StemmaError } from '../base/index.js';
import { outlineVersion, type ReadChain, rememberParsed, type WriteChain } from '../chain/index.js';
import { receivedOutline } from '../formats/index.js';
import { countCalls } from '../usage/index.js';
import { rememberRecords } from './commits.js';
import { type Hub, objectsAtOnce } from './hub.js';
import { type SentObject, unpackObjects } from './parcel.js';
import { fetchInParts } from './parts.js';

/** Limits of objects fetched together, as neighbors are usually read next. Fetches grow while reading goes on. */
const neighborhood = { min: 32, max: 512, minBytes: 192 * 1024, maxBytes: 16 * 1024 * 1024, growth: 4 };
/** The entries of the window's first view, and the most bytes of contents that are fetched for it. One larger object is fetched anyway. */
const firstView = { entries: 60, maxBytes: 2 * 1024 * 1024 };
/** Number of outlines that are fetched together, before and after the requested one. */
const outlinesAround = 2_000;

/** For each project, the end of its last fetch and the limits that it had. */
const lastFetch = new WeakMap<ReadChain['artifacts'], { readonly end: number; readonly count: number; readonly bytes: number }>();

/** The object whose read failed with this error, if only the hub holds it. */
export function heldByHub({ artifacts }: Pick<ReadChain, 'artifacts'>, refusal: unknown): ArtifactRef | undefined {
  if (!(refusal instanceof StemmaError) || refusal.data.reason !== elsewhere) return undefined;
  const ref = refusal.data.id as ArtifactRef;
  return artifacts.copies.holdersOf(artifacts.find(ref)).includes(theHub) ? ref : undefined;
}

/**
 * Fetches the data for reading an object. At first only the hub's outlines of it and its neighbors, which suffice for a list of entries. If
 * they were requested before, fetches the object itself, with its neighbors. Each is verified by its hash, parsed, and stored soon. From
 * then on, its outline comes from its content.
 * @throws the errors of the hub; CORRUPT if it does not return the object.
 */
export async function fetchFromHub(chain: WriteChain, hub: Hub, ref: ArtifactRef): Promise<void> {
  const { artifacts } = chain;
  storeFetched(chain);
  const no = artifacts.find(ref);
  // `storeFetched` has just stored it, or another call has fetched it.
  if (artifacts.stat(no).gone === undefined) return;
  if (await fetchOutlines(chain, hub, no)) return;
  const early = ahead.get(artifacts);
  ahead.delete(artifacts);
  if (artifacts.stat(no).gone !== undefined) await fetchContents(chain, hub, ref, early);
}

/** Packed contents that came with the first outlines of each project. They stay in memory until a read needs one. */
const ahead = new WeakMap<ReadChain['artifacts'], { readonly asked: readonly Held[]; readonly packed: Uint8Array }>();

/** The objects to fetch together: the given one and its neighbors, as many as `first` says unless reading goes on. */
function nextTo({ artifacts }: ReadChain, no: ArtifactNo, first = { count: neighborhood.min, bytes: neighborhood.minBytes }): Held[] {
  const { max, maxBytes, growth } = neighborhood;
  const last = lastFetch.get(artifacts);
  const continues = last !== undefined && no >= last.end && no <= last.end + last.count;
  const count = continues ? Math.min(max, last.count * growth) : first.count;
  const bytes = continues ? Math.min(maxBytes, last.bytes * growth) : first.bytes;
  const near = artifacts.copies.evictedFrom(no, count, bytes);
  lastFetch.set(artifacts, { end: (near.at(-1)?.no ?? no) + 1, count, bytes });
  return near;
}

/** Objects whose surrounding outlines were requested, per project. They are not requested again, even if the hub sent none or a cache dropped them. */
const askedAround = new WeakMap<ReadChain['artifacts'], Set<ArtifactNo>>();

/** Fetches outlines around an object, into memory only, because nothing proves them. Returns whether the object got one. */
async function fetchOutlines(chain: ReadChain, hub: Hub, no: ArtifactNo): Promise<boolean> {
  const { db, project, artifacts, outlines } = chain;
  const asked = askedAround.get(artifacts) ?? new Set<ArtifactNo>();
  askedAround.set(artifacts, asked);
  if (asked.has(no)) return false;
  asked.add(no);
  const around = db.all<Around>(
    `SELECT DISTINCT c.artifact, a.hash, a.size, c.format, c.entries FROM artifact a JOIN commits c ON c.artifact = a.no
      WHERE c.project = ? AND a.no BETWEEN ? AND ? AND a.gone = 'evicted' LIMIT ${2 * outlinesAround}`,
    [project, no - outlinesAround, no + outlinesAround],
  );
  const wanted = around.filter(({ artifact, format }) => outlines.get(`${artifact}:${format}`) === undefined);
  if (!wanted.some(({ artifact }) => artifact === no)) return false;
  // The window's first view needs contents soon after the outlines.
  const along = lastFetch.has(artifacts) ? [] : nextTo(chain, no, firstViewAmong(around, no));
  const contents = wanted.map(({ hash, format }) => [hash.toString('hex'), format] as const);
  const answer = await hub.outlines(contents, along.map(hexOf)).catch((error: unknown) => {
    // A hub that makes no outlines of a format has the contents.
    if (error instanceof StemmaError && error.code === 'BAD_REQUEST') return undefined;
    throw error;
  });
  if (!answer) return false;
  const { version, outlines: found, objects } = answer;
  if (objects) ahead.set(artifacts, { asked: along, packed: objects });
  if (version !== outlineVersion) return false;
  for (const [i, { artifact, format }] of wanted.entries()) {
    const data = found[i];
    const outline = typeof data === 'string' ? receivedOutline(data) : undefined;
    if (outline) outlines.set(`${artifact}:${format}`, outline, outline.entries.length + 1);
  }
  return wanted.some(({ artifact, format }) => artifact === no && outlines.get(`${artifact}:${format}`) !== undefined);
}

/** The contents of a commit that are only on the hub. */
type Around = { readonly artifact: ArtifactNo; readonly hash: Buffer; readonly size: number; readonly format: string; readonly entries: number };

/** The contents, from this one on, that hold the entries of the first view. */
function firstViewAmong(around: readonly Around[], no: ArtifactNo) {
  const contents = new Map(around.map((content) => [content.artifact, content] as const));
  let [count, bytes, left] = [0, 0, firstView.entries];
  for (const at of [...contents.keys()].filter((at) => at >= no).sort((a, b) => a - b)) {
    const { size, entries } = contents.get(at) as Around;
    if (left <= 0 || bytes + size > firstView.maxBytes) break;
    [count, bytes, left] = [at - no + 1, bytes + size, left - entries];
  }
  return { count: Math.max(neighborhood.min, count), bytes: Math.max(neighborhood.minBytes, bytes) };
}

const hexOf = ({ ref }: Held): string => ref.slice('blake3:'.length);

/** Fetches objects from the hub. */
const objectsFrom = async (hub: Hub, asked: readonly Held[]): Promise<SentObject[]> => askedObjects(asked, await hub.objects(asked.map(hexOf)));

/** Unpacks the hub's answer. Drops objects that were not requested. */
function askedObjects(asked: readonly Held[], packed: Uint8Array): SentObject[] {
  const hashes = new Set(asked.map(hexOf));
  return unpackObjects(packed).filter(({ hash }) => hashes.has(hash));
}

async function fetchContents(chain: WriteChain, hub: Hub, ref: ArtifactRef, early: ReturnType<typeof ahead.get>): Promise<void> {
  const { artifacts, db, project } = chain;
  const isRead = ({ hash }: SentObject): boolean => ref.endsWith(hash);
  const no = artifacts.find(ref);
  let found = early ? askedObjects(early.asked, early.packed) : [];
  if (!found.some(isRead)) found = await objectsFrom(hub, nextTo(chain, no));
  if (!found.some(isRead)) found = [...found, ...(await objectsFrom(hub, [{ no, ref }]))];
  const isLarge = !found.some(isRead) && (await fetchLarge(chain, hub, ref));
  if (!isLarge && !found.some(isRead)) throw corrupt(ref, `The hub does not return ${ref}, which this project reads from it.`);
  const contents = new Map(found.map(({ hash, bytes }) => [artifacts.find(`blake3:${hash}`), bytes]));
  const commits = db.all<FetchedCommit>(
    'SELECT seq, artifact, format FROM commits WHERE project = ? AND artifact IN (SELECT value FROM json_each(?)) ORDER BY seq',
    [project, JSON.stringify([...contents.keys(), ...(isLarge ? [no] : [])])],
  );
  for (const commit of commits) {
    const bytes = contents.get(commit.artifact);
    if (bytes) rememberParsed(chain, commit, bytes);
  }
  // Another read may have fetched contents meanwhile, which the next line would drop.
  storeFetched(chain);
  fetched.set(artifacts, { contents, commits, later: storeSoon(chain) });
  // Only contents of commits can be read from memory. Other objects must be stored at once.
  if (commits.every(({ artifact }) => artifact !== no) || isLarge) storeFetched(chain);
}

type FetchedCommit = { readonly seq: CommitSeq; readonly artifact: ArtifactNo; readonly format: string };

interface Fetched {
  readonly contents: ReadonlyMap<ArtifactNo, Uint8Array>;
  readonly commits: readonly FetchedCommit[];
  readonly later: NodeJS.Timeout;
}

/** Verified and parsed contents of each project that are not stored yet, because the window should not wait for the sync of the disk. */
const fetched = new WeakMap<ReadChain['artifacts'], Fetched>();
const storeAfterMs = 100;
const storeSoon = (chain: WriteChain): NodeJS.Timeout => setTimeout(() => storeLater(chain), storeAfterMs);

/** Drops contents that are not stored yet. The hub still holds them. Call it before the project is closed. */
export function forgetFetched({ artifacts }: Pick<ReadChain, 'artifacts'>): void {
  clearTimeout(fetched.get(artifacts)?.later);
  fetched.delete(artifacts);
}

/** Stores the contents that were fetched last, and the data derived from them. */
function storeFetched(chain: WriteChain): void {
  const { artifacts } = chain;
  const last = fetched.get(artifacts);
  if (!last) return;
  forgetFetched(chain);
  artifacts.transaction(() => {
    for (const [no, bytes] of last.contents) artifacts.restore(no, bytes);
    // From now on the outline comes from the content.
    for (const { artifact, format } of last.commits) chain.outlines.delete(`${artifact}:${format}`);
    rememberRecords(chain, last.commits);
    const commits = last.commits.map(({ seq }) => seq);
    countCalls(chain, commits);
    countTools(chain, commits);
  });
}

/** Stores fetched contents when no other writer works. If the disk is full, for instance, they are dropped and fetched again when needed. */
function storeLater(chain: WriteChain): void {
  const last = fetched.get(chain.artifacts);
  if (last && !chain.db.isFree()) fetched.set(chain.artifacts, { ...last, later: storeSoon(chain) });
  else orUndefined(() => storeFetched(chain));
}

/** Fetches an object that the hub has in parts. Returns false for any other object. */
async function fetchLarge(chain: WriteChain, hub: Hub, ref: ArtifactRef): Promise<boolean> {
  const [about] = await hub.about([ref.slice('blake3:'.length)]);
  if (!about?.parts) return false;
  await fetchInParts(chain, hub, ref, about);
  return true;
}

/** Fetches objects that only the hub holds, and stores them. What the hub has no more is left out. Returns the number of bytes. */
export async function fetchObjectsOf(chain: WriteChain, hub: Hub, missing: readonly Held[]): Promise<number> {
  const { artifacts } = chain;
  let bytes = 0;
  for (let left = missing; left.length > 0; ) {
    const found = await objectsFrom(hub, left.slice(0, objectsAtOnce));
    artifacts.transaction(() => {
      for (const { hash, bytes } of found) artifacts.restore(artifacts.find(refOfHash(Buffer.from(hash, 'hex'))), bytes);
    });
    bytes += found.reduce((sum, one) => sum + one.bytes.length, 0);
    const [first] = left;
    if (found.length === 0 && first) await fetchLarge(chain, hub, first.ref);
    const got = new Set(found.length === 0 ? [first?.ref] : found.map(({ hash }) => `blake3:${hash}`));
    left = left.filter(({ ref }) => !got.has(ref));
  }
  return bytes;
}
