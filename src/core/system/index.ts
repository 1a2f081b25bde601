// system: what differs between Linux, macOS and Windows: paths, names, quotes, variables, folders, file identity.
// Each function takes the system as an argument, so that all three are tested on any of them. It touches no disk and starts no process:
// private files are in core/files, processes and terminals in main/system.
export * from './folders.js';
export * from './names.js';
export * from './paths.js';
export * from './quoting.js';
export * from './system.js';
export * from './variables.js';
export * from './wsl.js';
