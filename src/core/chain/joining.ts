/** Groups of items that are joined pair by pair. An item that was not joined is a group of its own. */
export function joining<Item>() {
  const joins = new Map<Item, Item>();
  /** The item that stands for the group of an item. */
  const groupOf = (item: Item): Item => {
    let at = item;
    for (let next = joins.get(at); next !== undefined; next = joins.get(at)) at = next;
    if (at !== item) joins.set(item, at);
    return at;
  };
  const join = (a: Item, b: Item): void => {
    const [one, other] = [groupOf(a), groupOf(b)];
    if (one !== other) joins.set(one, other);
  };
  return { groupOf, join };
}
