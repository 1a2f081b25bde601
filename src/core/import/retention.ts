import { join } from 'node:path';
import { decodeText, isObject, type Json, parseJson } from '../base/index.js';
import type { FoundSource } from '../contract/index.js';
import { readInside } from '../files/index.js';
import type { AgentRoot } from './places.js';

const maxBytes = 1024 * 1024;

/** Claude Code deletes a history this many days after its last message, unless a setting says otherwise. */
const claudeDays = 30;

/** After how many days an agent deletes its histories, where that is known. */
export function deletedAfter({ agent, root }: AgentRoot): FoundSource['deletes'] {
  const setting = join(root, 'settings.json');
  if (agent === 'claude-code') {
    const days = member(settingsIn(root, setting), 'cleanupPeriodDays');
    return typeof days === 'number' && Number.isFinite(days) && days >= 0 ? { days, setting } : { days: claudeDays, setting: null };
  }
  if (agent === 'gemini') {
    const kept = member(member(settingsIn(root, setting), 'general'), 'sessionRetention');
    const days = member(kept, 'enabled') === true ? daysIn(member(kept, 'maxAge')) : undefined;
    return days === undefined ? undefined : { days, setting };
  }
  return undefined;
}

const member = (value: Json | undefined, name: string): Json | undefined => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined);

/** An age as Gemini writes it: `30d`, `2w`, `24h`, `1m` (a month). */
function daysIn(age: Json | undefined): number | undefined {
  const [, count, unit = ''] = /^(\d+)([hdwm])$/.exec(typeof age === 'string' ? age : '') ?? [];
  const days = { h: 1 / 24, d: 1, w: 7, m: 30 }[unit];
  return count === undefined || days === undefined ? undefined : Number(count) * days;
}

/** The settings of an agent. A file that is missing or no JSON says nothing. */
function settingsIn(root: string, path: string): Json | undefined {
  try {
    return parseJson(decodeText(readInside(root, path, { limit: maxBytes })));
  } catch {
    return undefined;
  }
}
