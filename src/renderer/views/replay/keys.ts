import type { KeyboardEvent } from 'react';

export type Command = 'toggle' | 'nextStep' | 'previousStep' | 'nextTurn' | 'previousTurn' | 'faster' | 'slower' | 'first' | 'last';

const commands: Readonly<Record<string, Command>> = {
  ' ': 'toggle',
  ArrowRight: 'nextStep',
  ArrowLeft: 'previousStep',
  '.': 'nextStep',
  ',': 'previousStep',
  ShiftArrowRight: 'nextTurn',
  ShiftArrowLeft: 'previousTurn',
  ']': 'nextTurn',
  '[': 'previousTurn',
  '>': 'faster',
  '<': 'slower',
  Home: 'first',
  End: 'last',
};

/** The command of a key press; undefined if the pressed element needs the key itself. */
export function commandOf({ key, shiftKey, ctrlKey, metaKey, altKey, target }: KeyboardEvent): Command | undefined {
  if (ctrlKey || metaKey || altKey) return undefined;
  if (target instanceof HTMLSelectElement || target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) return undefined;
  if ((key === ' ' || key === 'Enter') && target instanceof HTMLButtonElement) return undefined;
  return commands[shiftKey && key.startsWith('Arrow') ? `Shift${key}` : key];
}
