import { existsSync, readFileSync } from 'node:fs';

/** The peak memory of this process. It includes the parent's memory at the fork; Linux also counts from the start of the program. */
export function peakKilobytes(): number {
  const own = existsSync('/proc/self/status') ? /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] : undefined;
  return own === undefined ? process.resourceUsage().maxRSS : Number(own);
}
