// derived: the database file of everything that can be made again from the record, beside it.
// It is attached to each connection as the schema `derived`, so that statements name its tables like those of the record.
// It is replaced by an empty one if it is missing, damaged, from another machine, of another layout or ahead of its record.

export { attachForReading, derivedFile, derivedName, isDerivedName, removeDerived, withoutWaiting } from './attach.js';
export { changesDerived, type Derived, openDerived } from './derived.js';
export { derivedTables } from './tables.js';
