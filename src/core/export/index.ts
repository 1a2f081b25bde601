// export: writes contexts as files that agents resume, as message JSON, and as documents for people (`html/` is one of them).
// It overwrites no file (F15), exports no data of another context, and removes known patterns of secrets on request (`redact/`).
// `core/formats` writes the bytes; this folder decides what to write and where.
export { exportComparison, exportRedactedComparison } from './comparison.js';
export { type Exported, type ExportInput, exportContext, exportRedacted } from './context.js';
export { exportFormats } from './formats.js';
export { isRedacted, type Redaction, redactor, replacedIn, textsOf } from './redact/index.js';
export { checkFolder, type Resumable, resumeIn, sessionFile } from './resume.js';
