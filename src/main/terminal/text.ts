/** A run of text in one style. Its control characters are already escaped. */
interface Span {
  readonly text: string;
  /** SGR codes: 1 is bold, 31 is red. */
  readonly codes: readonly number[];
}

/** Text that is safe to print. Only this file makes it, so that nothing reaches a terminal unescaped. */
export class Text {
  constructor(readonly spans: readonly Span[]) {}

  /** The text without its styles. */
  toString(): string {
    return this.spans.map((span) => span.text).join('');
  }
}

/** A string prints as one line: its line breaks are escaped, so that a title cannot forge a second line. See `block`. */
export type Printable = string | Text;

/** Characters that a terminal acts on instead of showing: C0, DEL, C1, line separators, and bidirectional controls. */
const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const hexEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** C0 characters are shown as their visible symbols (`␛`), all other control characters by their number (`\u009b`). */
function visible(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : hexEscape(character);
}

/** One line of text with every control character but the tab made visible, line breaks included. */
export const escapeLine = (text: string): string => text.replace(controls, (each) => (each === '\t' ? each : visible(each)));

/** Lines of text with every control character but tab and line break made visible. A Windows line ending counts as a line break. */
export const escapeLines = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(controls, (each) => (each === '\t' || each === '\n' ? each : visible(each)));

/** The same JSON document without control characters, except for line breaks and tabs between its values. */
export const escapeJson = (json: string): string => json.replace(controls, (each) => (each === '\t' || each === '\n' ? each : hexEscape(each)));

const plain = (text: string): Text => new Text([{ text, codes: [] }]);
const toText = (value: Printable | number): Text => (value instanceof Text ? value : plain(escapeLine(String(value))));

/** A template tag: the text of the template prints as written, and an inserted string prints as one line. */
export function line(template: TemplateStringsArray, ...values: readonly (Printable | number)[]): Text {
  const spans = template.flatMap((text, place) => [{ text, codes: [] }, ...(place < values.length ? toText(values[place] ?? '').spans : [])]);
  return new Text(spans.filter((span) => span.text !== ''));
}

/** Text that keeps its line breaks. */
export const block = (text: string): Text => plain(escapeLines(text));

/** Joins texts, by default with line breaks. */
export const join = (texts: readonly Printable[], separator = '\n'): Text =>
  new Text(texts.flatMap((text, place) => [...(place > 0 ? [{ text: separator, codes: [] }] : []), ...toText(text).spans]));

/** Starts each line of a text with a prefix. */
export function indent(text: Text, prefix: string): Text {
  const spans = text.spans.map((span) => ({ ...span, text: span.text.replaceAll('\n', `\n${prefix}`) }));
  return new Text([{ text: prefix, codes: spans[0]?.codes ?? [] }, ...spans]);
}

/** Gives a text a style, inside the styles that its parts already have. */
export type Paint = (text: Printable | number) => Text;
const paint =
  (code: number): Paint =>
  (text) =>
    new Text(toText(text).spans.map((span) => ({ ...span, codes: [code, ...span.codes] })));

export const bold = paint(1);
export const dim = paint(2);
export const red = paint(31);
export const green = paint(32);
export const yellow = paint(33);
export const magenta = paint(35);
export const cyan = paint(36);

/** The characters to print: with styles as escape sequences, or without styles. */
export function render(text: Printable, styled: boolean): string {
  const { spans } = toText(text);
  if (!styled) return spans.map((span) => span.text).join('');
  return spans.map(({ text: part, codes }) => (codes.length > 0 && part !== '' ? `\u001b[${codes.join(';')}m${part}\u001b[0m` : part)).join('');
}
