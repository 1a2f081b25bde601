import { firstWhere } from '../../base/index.js';
import type { RedactionKind } from '../../contract/index.js';

/** The meaning of a form, which is one spelling of a secret. `of` is the same for all spellings of one secret. */
export interface Form {
  readonly kind: RedactionKind;
  readonly of: string;
}

export interface FormSpan extends Form {
  readonly from: number;
  readonly to: number;
}

/** The minimum length of a form. Shorter ones match too much other text. */
export const minFormLength = 4;

/** Finds many strings in texts at once: the longest at each position, without overlaps. One regular expression would be too large. */
export function formFinder(forms: ReadonlyMap<string, Form>): (text: string) => FormSpan[] {
  const sorted = [...forms.keys()].filter((form) => form.length >= minFormLength).sort();
  const shorter = prefixesOf(sorted);
  const heads = new Uint8Array(1 << 16);
  for (const form of sorted) heads[hashBeginning(form, 0)] = 1;
  return (text) => {
    const found: FormSpan[] = [];
    for (let at = 0; at + minFormLength <= text.length; ) {
      const form = heads[hashBeginning(text, at)] === 1 ? formAt(text, at) : undefined;
      if (form !== undefined) found.push({ from: at, to: at + form.length, ...(forms.get(form) as Form) });
      at += form?.length ?? 1;
    }
    return found;
  };

  /** The longest form at a position: in sorted order, the last form that does not come after the text there, or one of its prefixes. */
  function formAt(text: string, at: number): string | undefined {
    const isAfter = (form: string): boolean => text.slice(at, at + form.length) < form;
    const last = firstWhere(0, sorted.length, (place) => isAfter(sorted[place] as string)) - 1;
    for (let place = last; place >= 0; place = shorter[place] as number) {
      const form = sorted[place] as string;
      if (text.startsWith(form, at) && isWholeWord(text, at + form.length, form, forms.get(form)?.kind)) return form;
    }
    return undefined;
  }
}

const hashBeginning = (text: string, at: number): number =>
  (text.charCodeAt(at) * 0x9e5 + text.charCodeAt(at + 1) * 0x1f3 + text.charCodeAt(at + 2) * 0x25 + text.charCodeAt(at + 3)) & 0xffff;

/** For each of the sorted strings, the index of the longest other string that it begins with, or -1. */
function prefixesOf(sorted: readonly string[]): Int32Array {
  const shorter = new Int32Array(sorted.length).fill(-1);
  const open: number[] = [];
  for (const [at, form] of sorted.entries()) {
    while (open.length > 0 && !form.startsWith(sorted[open.at(-1) as number] as string)) open.pop();
    shorter[at] = open.at(-1) ?? -1;
    open.push(at);
  }
  return shorter;
}

/** Whether the match may end here: the name of a person must end with the word, while any character may follow a secret. */
const isWholeWord = (text: string, end: number, form: string, kind: Form['kind'] | undefined): boolean =>
  kind === 'secret' || !wordEnd.test(form) || !wordStart.test(text.slice(end, end + 2));
const wordEnd = /[\p{L}\p{N}_]$/u;
const wordStart = /^[\p{L}\p{N}_]/u;
