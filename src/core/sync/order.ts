import { referencesOf, type SentItem } from './rows.js';

const nameOf = ({ kind, key }: Pick<SentItem, 'kind' | 'key'>): string => `${kind} ${key}`;

/** Orders items after those that they refer to, in linear time, and else as they were. A circle stands where its first item stood. */
export function inOrder<T extends Pick<SentItem, 'kind' | 'key' | 'body'>>(items: readonly T[]): T[] {
  const places = Map.groupBy(items.keys(), (i) => nameOf(items[i] as T));
  const below = (i: number): number[] => referencesOf(items[i] as T).flatMap((of) => places.get(nameOf(of)) ?? []);
  const ordered: T[] = [];
  const isSeen = new Uint8Array(items.length);
  for (let first = 0; first < items.length; first++) {
    if (isSeen[first]) continue;
    isSeen[first] = 1;
    // A stack of its own: a chain may have more items than calls fit on the stack.
    const open: { readonly item: number; readonly before: number[] }[] = [{ item: first, before: below(first) }];
    for (let at = open.at(-1); at; at = open.at(-1)) {
      const next = at.before.pop();
      if (next === undefined) {
        ordered.push(items[at.item] as T);
        open.pop();
      } else if (!isSeen[next]) {
        isSeen[next] = 1;
        open.push({ item: next, before: below(next) });
      }
    }
  }
  return ordered;
}
