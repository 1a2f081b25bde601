import { InvalidArgumentError } from 'commander';

/** Reads a whole number of 0 or more from an option. @throws InvalidArgumentError for anything else. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new InvalidArgumentError('expected a whole number of 0 or more.');
  return value;
}

/** Reads a port from an option. @throws InvalidArgumentError for anything but 0 to 65535. */
export function portNumber(text: string): number {
  const value = wholeNumber(text);
  if (value > 65_535) throw new InvalidArgumentError('expected a port from 0 to 65535.');
  return value;
}
