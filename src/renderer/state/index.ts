// state: the current place (address, selection, open sheet) and data loaded from the engine, cached by id.
// Commits never change, so their outlines and entries can be cached; lists reload when a revision goes up.
// Views use this folder; nothing here imports a component.

export { type ChainFacts, chainOf, continuedName, useChain, useChainFacts, useChainMap, useRowFacts, wholeChainLimit } from './chain';
export { coalesced } from './coalesced';
export * from './contexts';
export * from './desktop';
export * from './drafts';
export * from './experiments';
export * from './forms';
export * from './imports';
export * from './jobs';
export * from './live';
export { AnswerMemory } from './memory';
export * from './navigation';
export { type TurnCount, usePlace, useTurnNumbers } from './place';
export * from './progress';
export * from './project';
export * from './query';
export { createRanges, type Ranges, useRanges } from './ranges';
export * from './reading';
export { isPage, type Route, type SettingsPage, settingsPages, type ViewName } from './route';
export * from './runs';
export type { Sample, SamplePart } from './samples';
export { type SessionPage, useSessionList } from './sessions';
export { readStream } from './stream';
export * from './task';
export * from './tickets';
export * from './ui';
export * from './usage';
export * from './whatIfs';
