/** Quoting keeps a message from forging a line: texts are quoted or plain words, breaks and quotes escaped, and can be read back. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
const unsafe = /["\\\u0000-\u001f\u007f-\u009f]/g;

function escaped(letter: string): string {
  if (letter === '\n') return '\\n';
  if (letter === '\t') return '\\t';
  return letter === '"' || letter === '\\' ? `\\${letter}` : `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Characters that JSON escapes differently. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
const unlikeJson = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** A text between quotes. Null becomes the empty text. */
export function quoted(text: string | null): string {
  if (text === null) return '""';
  // JSON.stringify does the same for ordinary texts, many times faster.
  return unlikeJson.test(text) || !text.isWellFormed() ? `"${text.replace(unsafe, escaped)}"` : JSON.stringify(text);
}

/** Characters with a meaning in a line: a name that contains one is quoted. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
const meaningful = /["\\\u0000-\u001f\u007f-\u009f()[\],:←—\u2028\u2029]/;

/** Names that lines use themselves. */
const reserved: readonly string[] = ['You', 'Unknown'];

/** A name without quotes, or quoted if it could be mistaken for other parts of a line. */
export function quoteName(name: string | null): string {
  if (name === null) return 'Unknown';
  return name === '' || name !== name.trim() || meaningful.test(name) || reserved.includes(name) ? quoted(name) : name;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
const plainId = /^[^\s"\\()[\]\u0000-\u001f\u007f-\u009f]+$/;

/** An id without quotes, or quoted if it is not a single word. */
export const quoteId = (id: string): string => (plainId.test(id) ? id : quoted(id));

/** The id in a message's tag: without the prefix that all message ids have. */
export const tagOf = (messageId: string): string => quoteId(messageId.replace(/^msg-(?=.)/, ''));

/** A text without quotes that ends with its line: only characters that would end the line are escaped. */
export const unquoted = (text: string): string => text.replace(unsafe, (letter) => (letter === '"' ? letter : escaped(letter)));
