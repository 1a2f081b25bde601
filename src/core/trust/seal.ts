import { createHmac, createSecretKey, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { attempt, once } from '../base/index.js';
import { makeFolders, readInside, replaceFile } from '../files/index.js';

/** A mark of a text that only this machine can make: nobody who sends a project can forge what this machine wrote into it. */
export type Seal = (text: string) => string;

const keyBytes = 32;
/** The key of a process without a folder of its own, or with one that cannot be written to. Its seals end with the process. */
const ownKey = once(() => randomBytes(keyBytes));

function sealWith(key: () => Buffer): Seal {
  const secret = once(() => createSecretKey(key()));
  return (text) => createHmac('sha256', secret()).update(text).digest('hex');
}

/** The seal of this process alone. */
export const sealOfProcess: Seal = sealWith(ownKey);

/** The seal of this machine. Its key is in `dataDir`, for its owner alone, and is made at the first use. */
export function openSeal(dataDir: string): Seal {
  const file = join(dataDir, 'machine.key');
  return sealWith(() => storedKey(dataDir, file) ?? newKey(dataDir, file));
}

function storedKey(dataDir: string, file: string): Buffer | undefined {
  const text = attempt(() => readInside(dataDir, file, { limit: 4 * keyBytes }).toString('latin1'));
  const key = Buffer.from(text?.trim() ?? '', 'hex');
  return key.length === keyBytes ? key : undefined;
}

function newKey(dataDir: string, file: string): Buffer {
  attempt(() => {
    makeFolders(dataDir);
    replaceFile(file, `${randomBytes(keyBytes).toString('hex')}\n`);
  });
  // Another process may have written its own at the same time. The last one counts for both.
  return storedKey(dataDir, file) ?? ownKey();
}
