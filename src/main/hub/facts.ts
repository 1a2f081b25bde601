import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { type BasicType, parquetWriteBuffer } from 'hyparquet-writer';
import { theHub } from '../../core/artifacts/index.js';
import type { ReadChain, WriteChain } from '../../core/chain/index.js';
import { makeFolders } from '../../core/files/index.js';
import { createProject, openProject, roots } from '../../core/project/index.js';
import { type BackingStore, openStore } from '../../core/replicas/index.js';
import { countOnHub, pull } from '../../core/sync/index.js';
import { type FactPartition, factPartitions } from '../../core/usage/index.js';
import { hubAt, openLogins } from '../team/index.js';
import { parsePlace } from './start.js';

interface FactsOptions {
  readonly hub: string;
  readonly project: string;
  /** The token. Without it, the sign-in of this machine is used. */
  readonly token: string | undefined;
  /** The destination: a folder, or `s3://bucket/prefix?…` with the credentials of the environment. */
  readonly to: string;
  /** The folder of the records and counts. It is kept, so that the next run reads only what is new. */
  readonly data: string;
  readonly dataDir: string;
  /** Bytes of fetched contents after which they are freed. */
  readonly mostBytes?: number;
}

export type WrittenFacts = Readonly<Record<string, { readonly files: number; readonly rows: number }>>;

/**
 * Writes the usage facts of a hub's project as Parquet, from its records and from the contents of one session after the other. Running it again
 * replaces the files, so nothing is counted twice. @throws the errors of a pull; UNAVAILABLE if the destination does not answer.
 */
export async function exportFacts({ hub, project, token, to, data, dataDir, mostBytes = 128 * 1024 * 1024 }: FactsOptions): Promise<WrittenFacts> {
  const dir = join(data, `${project}.stemma`);
  makeFolders(data);
  const clone = existsSync(dir) ? openProject(dir, Date.now) : createProject({ dir, name: project }, Date.now);
  const store = openStore('facts', parsePlace(to), { from: 'environment' });
  try {
    const from = hubAt({ hub, project, token }, openLogins(dataDir));
    await pull(clone.chain, from, { onDemand: true });
    await countOnHub(clone.chain, from, freeing(clone.chain, mostBytes));
    return await writeFacts(clone.chain, project, store);
  } finally {
    store.close();
    clone.close();
  }
}

/** Frees what was fetched from time to time, so that the project holds records and counts, and the contents of a few sessions at most. */
function freeing(chain: WriteChain, mostBytes: number): (bytes: number) => void {
  let fetched = 0;
  return (bytes) => {
    fetched += bytes;
    if (fetched < mostBytes) return;
    for (const _ of chain.artifacts.gc({ roots, budgetBytes: 0, replicas: [theHub] }));
    fetched = 0;
  };
}

/** Writes every partition to `facts/TABLE/project=NAME/month=MONTH/part.parquet`. */
export async function writeFacts(chain: ReadChain, project: string, store: BackingStore): Promise<WrittenFacts> {
  const written: Record<string, { files: number; rows: number }> = {};
  for (const partition of factPartitions(chain)) {
    await store.putFile(`facts/${partition.table}/project=${project}/month=${partition.month}/part.parquet`, parquetOf(partition));
    const { files, rows } = written[partition.table] ?? { files: 0, rows: 0 };
    written[partition.table] = { files: files + 1, rows: rows + (partition.columns[0]?.values.length ?? 0) };
  }
  return written;
}

const types: Readonly<Record<FactPartition['columns'][number]['kind'], BasicType>> = {
  text: 'STRING',
  count: 'INT64',
  number: 'DOUBLE',
  time: 'TIMESTAMP',
  'yes-no': 'BOOLEAN',
};

const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

const parquetOf = ({ columns }: FactPartition): Uint8Array =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: columns.map(({ name, kind, values }) => ({
        name,
        type: types[kind],
        nullable: true,
        data: stored(kind, values),
        // Readers skip parts of a file by time.
        statistics: kind === 'time',
      })),
      codec: 'ZSTD',
      compressors: { ZSTD: (bytes) => zstdCompressSync(bytes, fast) },
    }),
  );

/** Counts become 64-bit integers, and times become dates. */
const stored = (kind: string, values: readonly (string | number | boolean | null)[]): unknown[] =>
  kind === 'count'
    ? values.map((value) => (value === null ? null : BigInt(value as number)))
    : kind === 'time'
      ? values.map((value) => (value === null ? null : new Date(value as number)))
      : [...values];
