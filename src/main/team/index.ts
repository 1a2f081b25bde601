// team: connects this machine to the hub of a team.
// wire.ts is the contract of a hub, client.ts calls it, bounded.ts looks at bodies before they are parsed, logins.ts signs in at its issuer.
// The hub itself is in `hub`, which other processes never load.
export { excessIn } from './bounded.js';
export { type HubClient, hubAt, hubClient, hubOver } from './client.js';
export { type Logins, openLogins } from './logins.js';
export { type HubContract, hubContract, type NewMember } from './wire.js';
