/**
 * What keeps a message from forging a line: every text stands between quotes or is a plain word, and nothing that
 * ends a line or a quote goes in as it is. What is written here can be read back without loss.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const unsafe = /["\\\u0000-\u001f\u007f-\u009f]/g;

function escaped(letter: string): string {
  if (letter === '\n') return '\\n';
  if (letter === '\t') return '\\t';
  return letter === '"' || letter === '\\' ? `\\${letter}` : `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** What JSON writes in another way than we do, or not at all. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const unlikeJson = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** A text between quotes; null is the empty text. */
export function quoted(text: string | null): string {
  if (text === null) return '""';
  // JSON's own writer does the same for ordinary texts, many times faster.
  return unlikeJson.test(text) || !text.isWellFormed() ? `"${text.replace(unsafe, escaped)}"` : JSON.stringify(text);
}

/** Letters that mean something in a line, so that a name which holds one is set between quotes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const meaningful = /["\\\u0000-\u001f\u007f-\u009f()[\],:←—\u2028\u2029]/;

/** Names that lines use for what has none. */
const taken: readonly string[] = ['You', 'Unknown'];

/** A name as it stands without quotes, between quotes where it could be taken for more than a name. */
export function nameOf(name: string | null): string {
  if (name === null) return 'Unknown';
  return name === '' || name !== name.trim() || meaningful.test(name) || taken.includes(name) ? quoted(name) : name;
}

/** An id as it stands without quotes, between quotes where it is no one word. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
export const idOf = (id: string): string => (/^[^\s"\\()[\]\u0000-\u001f\u007f-\u009f]+$/.test(id) ? id : quoted(id));

/** The id in a message's tag: without the prefix that all ids of messages have. */
export const tagOf = (messageId: string): string => idOf(messageId.replace(/^msg-(?=.)/, ''));

/** A text that stands to the end of its line without quotes: only what would end the line is escaped. */
export const unquoted = (text: string): string => text.replace(unsafe, (letter) => (letter === '"' ? letter : escaped(letter)));
