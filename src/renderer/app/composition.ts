/**
 * Whether a key belongs to the composition of a character, as people write Japanese, Chinese or Korean: Enter then accepts what is proposed and sends
 * nothing. Safari reports the Enter that ends a composition after its end; only its code says so.
 */
export const isComposing = ({ isComposing: composes, keyCode }: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean =>
  composes || keyCode === 229;

/** Keeps the keys of a composition from every handler of the window, so that no field or list has to ask. The system still gets them. */
export function keepCompositions(target: Pick<Window, 'addEventListener'> = window): void {
  for (const name of ['keydown', 'keyup'] as const)
    target.addEventListener(name, (event) => isComposing(event) && event.stopImmediatePropagation(), { capture: true });
}
