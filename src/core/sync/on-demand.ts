import { elsewhere, refOf, theHub } from '../artifacts/index.js';
import { type ArtifactRef, type CommitSeq, corrupt, type JsonObject, StemmaError } from '../base/index.js';
import { type Chain, commitAt } from '../chain/index.js';
import { countCalls } from '../usage/index.js';
import { rememberRecords } from './commits.js';
import type { Hub } from './hub.js';
import { unpackParcel } from './parcel.js';
import { readInParts } from './parts.js';

/** Objects that are fetched together: neighbors are usually read next. */
const neighborhood = 512;

/** The object that a read was refused for, if only the hub holds it. */
export function heldByHub({ artifacts }: Pick<Chain, 'artifacts'>, refusal: unknown): ArtifactRef | undefined {
  if (!(refusal instanceof StemmaError) || refusal.data.reason !== elsewhere) return undefined;
  const ref = refusal.data.id as ArtifactRef;
  return artifacts.copies.holdersOf(artifacts.find(ref)).includes(theHub) ? ref : undefined;
}

/**
 * Fetches an object from the hub, with its neighbors. Each is proved by its hash, and stays in the project.
 * @throws what the hub throws; CORRUPT if it does not return the object.
 */
export async function fetchFromHub(chain: Chain, hub: Hub, ref: ArtifactRef): Promise<void> {
  const { artifacts, db, project } = chain;
  const no = artifacts.find(ref);
  const near = artifacts.copies.evictedFrom(no, neighborhood);
  // Another call has fetched it meanwhile.
  if (near[0]?.no !== no) return;
  const isWanted = new Set<string>(near.map((each) => each.ref));
  const objectsOf = async (refs: readonly ArtifactRef[]) => {
    const { objects } = unpackParcel(await hub.objects(refs.map((each) => each.slice('blake3:'.length))), noItems);
    return objects.filter(({ bytes }) => isWanted.has(refOf(bytes)));
  };
  let found = await objectsOf(near.map((each) => each.ref));
  if (!found.some(({ hash }) => ref.endsWith(hash))) found = [...found, ...(await objectsOf([ref]))];
  if (!found.some(({ hash }) => ref.endsWith(hash))) {
    const [hash, [about]] = [ref.slice('blake3:'.length), await hub.about([ref.slice('blake3:'.length)])];
    if (about?.parts) found = [...found, { hash, contentType: about.contentType, bytes: await readInParts(hub, hash, about.parts) }];
  }
  if (!found.some(({ hash }) => ref.endsWith(hash))) throw corrupt(ref, `The hub does not return ${ref}, which this project reads from it.`);
  artifacts.transaction(() => {
    const nos = found.map(({ hash, bytes }) => {
      const object = artifacts.find(`blake3:${hash}`);
      artifacts.restore(object, bytes);
      return object;
    });
    const commits = db.all<{ seq: CommitSeq }>(
      'SELECT seq FROM context WHERE project = ? AND artifact IN (SELECT value FROM json_each(?)) ORDER BY seq',
      project,
      JSON.stringify(nos),
    );
    rememberRecords(
      chain,
      commits.map(({ seq }) => commitAt(chain, seq)),
    );
    countCalls(
      chain,
      commits.map(({ seq }) => seq),
    );
  });
}

const noItems = (kind: string, _: JsonObject): string => kind;
