import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SummarizerPlan, SummarizerSettings } from '../assist/index.js';
import { isObject, parseJson } from '../base/index.js';
import { replaceFile } from '../files/index.js';

/** The summarizers that a person turned on, by project folder. They are stored in Stemma's data folder, so no project can turn on its own. */
export function openSummarizerSettings(dataDir: string, dir: string): SummarizerSettings {
  const file = join(dataDir, 'summaries.json');
  const read = (): Record<string, SummarizerPlan> => {
    const stored = existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : {};
    return isObject(stored) ? (stored as unknown as Record<string, SummarizerPlan>) : {};
  };
  return {
    get: () => {
      const plans = read();
      return Object.hasOwn(plans, dir) ? plans[dir] : undefined;
    },
    set: (plan) => {
      const { [dir]: _, ...others } = read();
      replaceFile(file, `${JSON.stringify(plan ? { ...others, [dir]: plan } : others, null, 2)}\n`);
    },
  };
}
