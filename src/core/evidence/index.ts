// evidence: packs that prove what contexts, calls and tickets held, and their check, which needs nothing but the file.
// docs/evidence.md describes the format, and docs/verify-evidence.mjs is a second implementation of the check.
// It keeps the rules of test/spec/evidence.md.
export { packEvidence } from './pack.js';
export { verifyFile, verifyPack } from './verify.js';
