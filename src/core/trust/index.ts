// trust: which project folders a person trusts on this machine.
// Consent is in Stemma's own folder and names a project by its id and its real path.
// A project that arrives from elsewhere brings none along, and one that moved asks again.
export * from './refusal.js';
export * from './trust.js';
