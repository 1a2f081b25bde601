// export: contexts out of the chain, as files that agents resume, as message JSON, and as documents for people (html/ is one of them).
// Nothing is ever written over a file, and no export carries what belongs to another context, nor, on request, what is secret.
// Formats do the writing; here is what to write and where it goes.
export { type ComparisonInput, exportComparison } from './comparison.js';
export { type Exported, exportContext, exportRedacted } from './context.js';
export { exportFormats } from './formats.js';
export { type Resumable, resumeIn } from './resume.js';
