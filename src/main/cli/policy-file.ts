import { readFileSync } from 'node:fs';
import type { RunPolicy } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import { refusalOf, UsageError } from './errors.js';

/** Reads a policy. The contract checks it. @throws UsageError if the file cannot be read or is not JSON */
function policyIn(file: string): RunPolicy {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RunPolicy;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new UsageError(`cannot read the policy ${file}: the file does not exist.`);
    throw new UsageError(`cannot read the policy ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Sets the policy from a file. @throws UsageError with the field and its value if the contract refuses the policy */
export async function setPolicyOf(client: ContractClient, file: string): Promise<void> {
  const policy = policyIn(file);
  try {
    await client.runner.setPolicy(policy);
  } catch (error) {
    const { code, message } = refusalOf(error);
    throw code === 'BAD_REQUEST' ? new UsageError(`the policy ${file} is not valid. ${message}`) : error;
  }
}
