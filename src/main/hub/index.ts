// hub: the server of a team. PostgreSQL holds items, a bucket or folder their objects, and core/sync says what travels.
// service.ts answers the contract of `team`, access.ts decides who may do what.
// A hub keeps nothing in memory that another would need: any number of them can serve one database.
export { openHubDatabase } from './database.js';
export { startEmbedded } from './embedded.js';
export { exportFacts, type WrittenFacts, writeFacts } from './facts.js';
export { migrate } from './migrate.js';
export { migrations } from './migrations/index.js';
export { openHubObjects } from './objects.js';
export { type Oidc, openOidc } from './oidc.js';
export { removeExpired } from './retention.js';
export { firstToken, type RequestEntry, type RunningHub, serveHub } from './server.js';
export { type StartedHub, startHub } from './start.js';
