/** A hub in its own process, as it runs for a team: with its own PostgreSQL and a folder of objects. It ends when its parent lets it go. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../src/core/replicas/index.js';
import { firstToken, openHubDatabase, openHubObjects, serveHub, startEmbedded } from '../../src/main/hub/index.js';

const [dir] = process.argv.slice(2);
if (!dir) throw new Error('usage: hub FOLDER');
const postgres = await startEmbedded(dir);
mkdirSync(join(dir, 'objects'));
const database = await openHubDatabase(postgres.url);
const token = (await firstToken(database)) ?? '';
const objects = openHubObjects(openStore('hub', { kind: 'folder', dir: join(dir, 'objects') }));
const running = await serveHub({ database, objects, port: 0, host: '127.0.0.1' });
process.once('disconnect', async () => {
  await running.close();
  await database.close();
  await postgres.stop();
  process.exit();
});
process.send?.({ url: postgres.url, address: `http://127.0.0.1:${running.port}`, token });
