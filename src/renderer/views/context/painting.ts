const limit = 4_000;

/** Highlights each of the texts on the screen with the CSS Highlight API, which does not change the document. */
export function paintFound(container: HTMLElement, texts: readonly string[], here: Element | null): void {
  const highlights = CSS.highlights;
  if (!highlights) return;
  clearFound();
  const needles = texts.map((one) => one.toLowerCase()).filter((one) => one !== '');
  if (needles.length === 0) return;
  const found: Range[] = [];
  const foundHere: Range[] = [];
  const walker = document.createTreeWalker(container, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && found.length < limit; node = walker.nextNode()) {
    const text = node.nodeValue?.toLowerCase() ?? '';
    for (const needle of needles)
      for (let at = text.indexOf(needle); at !== -1 && found.length < limit; at = text.indexOf(needle, at + needle.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + needle.length);
        (here?.contains(node) ? foundHere : found).push(range);
      }
  }
  highlights.set('found', new Highlight(...found));
  highlights.set('found-here', new Highlight(...foundHere));
}

/** Removes the highlights. */
export const clearFound = (): void => {
  CSS.highlights?.delete('found');
  CSS.highlights?.delete('found-here');
};
