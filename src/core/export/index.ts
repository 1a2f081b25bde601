// export: contexts out of the chain, as files that agents resume, as message JSON, and as documents for people.
// Nothing is ever written over a file, and no export carries what belongs to another context.
// Formats do the writing; here is what to write and where it goes.
export { type ComparisonInput, exportComparison } from './comparison.js';
export { type Exported, exportContext, exportRedacted } from './context.js';
export { type Resumable, resumeIn } from './resume.js';
