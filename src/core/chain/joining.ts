/** Groups of items that are joined pair by pair. An item that was not joined is a group of its own. */
export function joining<Item>() {
  const joins = new Map<Item, Item>();
  /** The item that stands for the group of an item. */
  const groupOf = (item: Item): Item => {
    let at = item;
    // Each step shortens the path, which could otherwise become as long as the group.
    for (let next = joins.get(at); next !== undefined; next = joins.get(at)) {
      const after = joins.get(next);
      if (after !== undefined) joins.set(at, after);
      at = next;
    }
    return at;
  };
  const join = (a: Item, b: Item): void => {
    const [one, other] = [groupOf(a), groupOf(b)];
    if (one !== other) joins.set(one, other);
  };
  return { groupOf, join };
}
