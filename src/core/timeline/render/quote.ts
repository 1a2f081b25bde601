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

/** A text between quotes; null is the empty text. */
export const quoted = (text: string | null): string => `"${(text ?? '').replace(unsafe, escaped)}"`;

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
