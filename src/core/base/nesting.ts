/** The most levels of JSON that a sender may nest, and the most lists, objects and members: parsing more costs too much memory. */
export interface JsonBounds {
  readonly levels: number;
  readonly members: number;
}

const usual: JsonBounds = { levels: 200, members: 12_000_000 };

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c] as const;
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

/** Whether JSON of a stranger can be parsed and written again with bounded memory and stack. It need not be valid JSON. */
export function isBounded(text: Uint8Array, most: JsonBounds = usual): boolean {
  let levels = 0;
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case quote:
        at = endOfString(text, at);
        break;
      case openList:
      case openObject:
        levels += 1;
        members += 1;
        if (levels > most.levels) return false;
        break;
      case closeList:
      case closeObject:
        levels -= 1;
        break;
      case comma:
        members += 1;
    }
    if (members > most.members) return false;
  }
  return true;
}

/** The place of the quote that ends a string; the end of the text if none does. */
function endOfString(text: Uint8Array, start: number): number {
  for (let at = text.indexOf(quote, start + 1); at >= 0; at = text.indexOf(quote, at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
