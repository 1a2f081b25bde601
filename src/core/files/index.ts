// files: the only door from the engine to paths that a project, a history or an archive brought along, and the one file writer.
// It opens regular files only, follows no links, and enforces size limits. It deletes regular files only. A root is named by a person
// and may be a link; a path below a root may not contain one. Files that it writes are private to the user and survive a power cut.
export * from './home.js';
export * from './identity.js';
export * from './inside.js';
export * from './private.js';
export * from './real.js';
export * from './reasons.js';
export * from './repository.js';
export * from './temporary.js';
export * from './write.js';
