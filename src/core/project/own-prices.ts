import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { decodeText } from '../base/index.js';
import type { OwnPriced } from '../contract/index.js';
import { makeFolders, readInside, replaceFile } from '../files/index.js';
import { withPrices } from '../usage/index.js';

const longest = 16 * 1024 * 1024;

/** The text of a person's own prices, windows and budgets: `usage.json` in Stemma's data folder. Undefined if there is none. */
export function ownUsageSettings(dataDir: string): string | undefined {
  const file = join(dataDir, 'usage.json');
  return existsSync(file) ? decodeText(readInside(dataDir, file, { limit: longest })) : undefined;
}

/** Changes a person's own prices. @throws BAD_REQUEST if the file is not valid. */
export function changePrices(dataDir: string, change: (prices: readonly OwnPriced[]) => readonly OwnPriced[]): void {
  makeFolders(dataDir);
  replaceFile(join(dataDir, 'usage.json'), withPrices(ownUsageSettings(dataDir), change));
}
