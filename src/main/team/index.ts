// team: connects this machine to the hub of a team.
// wire.ts is the contract of a hub, client.ts calls it, logins.ts signs in at its issuer.
// The hub itself is in `hub`, which other processes never load.
export { type HubClient, hubAt, hubClient, hubOver } from './client.js';
export { type Logins, openLogins } from './logins.js';
export { type HubContract, hubContract } from './wire.js';
