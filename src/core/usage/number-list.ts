/**
 * Distinct numbers in the order in which they were added, at most `most`, as `numberOf` makes them. With a hundred thousand of them, a Map takes ten
 * times as long.
 */
export function numberList(most: number) {
  const slots = 2 ** Math.ceil(Math.log2(2 * most + 2));
  const numbers = new Float64Array(slots);
  /** One more than the place; 0 is an empty slot. */
  const places = new Int32Array(slots);
  let size = 0;
  const slotOf = (number: number): number => {
    let slot = number % slots;
    while (places[slot] !== 0 && numbers[slot] !== number) slot = (slot + 1) % slots;
    return slot;
  };
  return {
    /** The place of a number in the list; -1 if it was not added. */
    find: (number: number): number => (places[slotOf(number)] as number) - 1,
    /** The place of a number, which is added if it is new. */
    add: (number: number): number => {
      const slot = slotOf(number);
      if (places[slot] === 0) {
        numbers[slot] = number;
        size += 1;
        places[slot] = size;
      }
      return (places[slot] as number) - 1;
    },
    size: (): number => size,
  };
}
