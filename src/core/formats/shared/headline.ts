/** The first line of a text with words, short enough for a list; undefined for an empty text. */
export function clip(text: string): string | undefined {
  const line = wordsIn(text)?.replace(irregularSpace, ' ').trim();
  if (line === undefined || line === '') return undefined;
  if (line.length <= maxHeadlineLength) return text.length > 2 * line.length ? detached(line) : line;
  return detached(`${line.slice(0, maxHeadlineLength - 1).replace(/[\ud800-\udbff]$/, '')}…`);
}

/** The first line that is more than markup, such as a tag, a fence or a rule. Without one, the first line that is not empty. */
function wordsIn(text: string): string | undefined {
  const first = /\S[^\r\n]*/.exec(text)?.[0];
  if (first === undefined || !mayBeMarkup.test(first) || !isMarkup.test(first)) return first;
  const lines = /\S[^\r\n]*/g;
  for (let passed = 0; passed < maxMarkupLines; passed++) {
    const line = lines.exec(text)?.[0];
    if (line === undefined) break;
    if (!isMarkup.test(line)) return line;
  }
  return first;
}

/** Most lines begin with a letter, and are no markup. */
const mayBeMarkup = /^[<`~*_=#|>+\-[\](){}.:;!?/\\]/;
const isMarkup = /^(?:(?:`{3,}|~{3,})\s*[\w+-]*|(?:\s*<[!/?]?[A-Za-z][^<>]*>|\s*<!--.*?-->)+|[^\p{L}\p{N}]+)\s*$/u;
const maxMarkupLines = 40;

/** A copy of a part of a text. Without it, V8 keeps the whole text as long as the part. */
export function detached(part: string): string {
  // One byte for each character if that is enough.
  const encoding = /^[\0-\xff]*$/.test(part) ? 'latin1' : 'utf16le';
  return Buffer.from(part, encoding).toString(encoding);
}

const maxHeadlineLength = 200;
/** White space other than a single space. Every line of a history passes through here, and most contain only single spaces. */
const irregularSpace = / \s+|[^\S ]\s*/g;

/**
 * The first line of a prompt without the tags that an agent puts around it: the person's text is in an element such as `<user_query>`, or after
 * elements such as `<current_datetime>`. Only element names that HTML does not have count, because people write HTML too. If there is no other text,
 * the inside of the last element counts, unless `isStrict`.
 */
export function promptLine(text: string, isStrict = false): string | undefined {
  const asked = asking.exec(text.slice(0, maxFrameLength))?.[2];
  if (asked !== undefined && asked.trim() !== '') return clip(asked);
  let rest = text;
  let last = '';
  for (let count = 0; count < maxFrames; count++) {
    const [whole, , inside] = frame.exec(rest) ?? [];
    if (whole === undefined) break;
    rest = rest.slice(whole.length);
    last = inside ?? '';
  }
  return clip(rest) ?? (isStrict ? undefined : (clip(last) ?? clip(text)));
}
const asking = /<(user[_-]?(?:request|query|input|prompt|message))(?:\s[^>]*)?>([\s\S]*?)<\/\1>/i;
const frame = /^\s*<([a-z]+[_-][\w-]*|[a-z]+[A-Z]\w*|[A-Z][A-Z_]+)(?:\s[^>]*)?>([\s\S]*?)<\/\1>/;
const maxFrameLength = 65_536;
const maxFrames = 32;
