import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { checkpoint, type WriteChain } from '../../src/core/chain/index.js';
import { openStore } from '../../src/core/replicas/index.js';
import type { Hub } from '../../src/core/sync/index.js';
import { firstToken, openHubDatabase, openHubObjects, type RunningHub, serveHub, startEmbedded } from '../../src/main/hub/index.js';
import { hubAt, hubClient } from '../../src/main/team/index.js';
import { emptyChain, scratchUntilEnd } from './project.js';

/** A hub of a test file, on a real PostgreSQL server. */
export interface TestHub {
  readonly address: string;
  readonly admin: string;
  readonly databaseUrl: string;
  readonly superuserUrl: string;
  readonly objectsDir: string;
  readonly running: RunningHub;
  /** A project of the hub by its name; created if it does not exist. */
  project(name: string, token?: string): Promise<Hub>;
  client(token?: string): ReturnType<typeof hubClient>;
  /** The rows of a query on the hub's database. */
  query<T>(sql: string): Promise<T[]>;
  close(): Promise<void>;
}

/** Starts a hub with its own PostgreSQL, and with other limits where they are given. Close it at the end of the file. */
export async function startTestHub(limits?: Parameters<typeof serveHub>[0]['limits']): Promise<TestHub> {
  const dir = scratchUntilEnd();
  const postgres = await startEmbedded(dir);
  const objectsDir = join(dir, 'objects');
  mkdirSync(objectsDir);
  const database = await openHubDatabase(postgres.url);
  const admin = (await firstToken(database)) ?? '';
  const objects = openHubObjects(openStore('hub', { kind: 'folder', dir: objectsDir }));
  const running = await serveHub({ database, objects, port: 0, host: '127.0.0.1', limits });
  const address = `http://127.0.0.1:${running.port}`;
  const client = (token = admin) => hubClient({ hub: address, token });
  return {
    address,
    admin,
    databaseUrl: postgres.url,
    superuserUrl: postgres.superuserUrl,
    objectsDir,
    running,
    client,
    query: async <T>(sql: string) => {
      const direct = new pg.Client({ connectionString: postgres.superuserUrl });
      await direct.connect();
      try {
        return (await direct.query(sql)).rows as T[];
      } finally {
        await direct.end();
      }
    },
    project: async (name, token = admin) => {
      if (token === admin) await client().projects.create({ project: name });
      return hubAt({ hub: address, project: name, token });
    },
    close: async () => {
      await running.close();
      await database.close();
      await postgres.stop();
    },
  };
}

/** Adds a commit with this text to a chain. */
export const commitText = (chain: WriteChain, text: string, parent: string | null = null) =>
  checkpoint(chain, {
    parent: parent as never,
    type: 'delta',
    format: 'raw-text',
    template: 'test',
    checkpoint: 'turn_boundary',
    text,
    messageCount: 1,
    tokenCount: 1,
  });

/** A temporary chain with one commit of this text. */
export function chainWith(text: string): WriteChain {
  const chain = emptyChain();
  commitText(chain, text);
  return chain;
}

/** The digests of all commits of a chain, sorted. */
export const digestsOf = ({ db, project }: WriteChain): string[] =>
  db.all<{ digest: Buffer }>('SELECT digest FROM commits WHERE project = ? ORDER BY digest', project).map(({ digest }) => digest.toString('hex'));
