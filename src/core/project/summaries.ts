import { createHash } from 'node:crypto';
import { closeSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SummarizerPlan, SummarizerSettings } from '../assist/index.js';
import { isObject, parseJson, stringAt } from '../base/index.js';
import { createPrivate, makeFolders, namesIn, removeQuietly, replaceFile } from '../files/index.js';

/** A call: the project, the day and the number of the call. */
const callName = /^[0-9a-f]{32}-\d{4}-\d{2}-\d{2}-\d+$/;

/** The summarizers that a person turned on, by project folder. They are stored in Stemma's data folder, so no project can turn on its own. */
export function openSummarizerSettings(dataDir: string, dir: string): SummarizerSettings {
  const file = join(dataDir, 'summaries.json');
  const read = (): Record<string, SummarizerPlan> => {
    const stored = existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : {};
    return isObject(stored) ? (stored as unknown as Record<string, SummarizerPlan>) : {};
  };
  // A call is a file that only one process can make. A count in a file could be read by two before one of them writes it.
  const folder = join(dataDir, 'summaries');
  const ofProject = `${createHash('sha256').update(dir).digest('hex').slice(0, 32)}-`;
  const callFiles = (): string[] => namesIn(folder).filter((name) => name.startsWith(ofProject) && callName.test(name));
  const calls = (day: string): number => callFiles().filter((name) => name.startsWith(`${ofProject}${day}-`)).length;
  return {
    calls,
    claim: (day, most) => {
      makeFolders(folder);
      for (const name of callFiles()) if (name.slice(ofProject.length) < day) removeQuietly(join(folder, name));
      for (let call = calls(day) + 1; call <= most; call++)
        try {
          closeSync(createPrivate(join(folder, `${ofProject}${day}-${call}`)));
          return true;
        } catch (error) {
          if (stringAt(error, 'code') !== 'EEXIST') throw error;
        }
      return false;
    },
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
