// terminal: the only code in `main` that writes to standard output or standard error (test/spec/trust.md, T50 to T53).
// Text from transcripts is hostile: every control character is escaped before it is written, whatever command prints it.
// Styles are values beside the text, so no string can bring an escape sequence of its own.
export * from './output.js';
export * from './text.js';
