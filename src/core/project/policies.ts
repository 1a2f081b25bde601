import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../base/index.js';
import { type RunPolicy, runnerContract } from '../contract/index.js';
import { makeFolders, readInside, replaceFile } from '../files/index.js';

/** The jobs that may start by themselves, for each project in its folder. Policies belong to this machine: a project brings none along. */
export type Policies = ReturnType<typeof openPolicies>;

const longest = 16 * 1024 * 1024;
const nothing: RunPolicy = { rules: [] };
const schema = runnerContract.setPolicy['~orpc'].inputSchema;

/** Opens the policies in Stemma's data folder: one file for each project. A file that is not valid allows nothing. */
export function openPolicies(dataDir: string) {
  const folder = join(dataDir, 'policies');
  const policyFile = (projectId: string, dir: string): string =>
    join(folder, `${createHash('sha256').update(`${projectId}\0${dir}`).digest('hex')}.json`);
  return {
    get: (projectId: string, dir: string): RunPolicy => {
      const file = policyFile(projectId, dir);
      const stored = existsSync(file) ? schema?.safeParse(parseJson(readInside(folder, file, { limit: longest }).toString('utf8'))) : undefined;
      return stored?.success ? stored.data : nothing;
    },
    set: (projectId: string, dir: string, policy: RunPolicy): RunPolicy => {
      makeFolders(folder);
      replaceFile(policyFile(projectId, dir), `${JSON.stringify(policy, null, 2)}\n`);
      return policy;
    },
  };
}
