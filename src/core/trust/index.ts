// trust: the project folders that a person trusts on this machine.
// Consent is in Stemma's own folder and names a project by its id and its real path.
// A project from elsewhere brings no consent along. A project that was moved needs consent again.
export * from './seal.js';
export * from './trust.js';
