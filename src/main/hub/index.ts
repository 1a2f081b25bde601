// hub: the server of a team. PostgreSQL holds the items, a bucket or folder holds their objects, and core/sync defines what is exchanged.
// service.ts implements the contract of `team`, access.ts checks permissions.
// A hub keeps no shared state in memory, so any number of hubs can serve one database.
export { openHubDatabase } from './database.js';
export { startEmbedded } from './embedded.js';
export { exportFacts, type WrittenFacts, writeFacts } from './facts.js';
export { migrate } from './migrate.js';
export { migrations } from './migrations/index.js';
export { openHubObjects } from './objects.js';
export { type Oidc, openOidc } from './oidc.js';
export { removeExpired } from './retention.js';
export { firstToken, type RunningHub, serveHub } from './server.js';
export { startHub } from './start.js';
