import { cpSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Machine, machine } from './machine.js';

/** Puts a project with a history, made on another machine, into a folder of this one. Returns its folder. */
export async function foreignProject(own: Machine, ...place: string[]): Promise<string> {
  await using other = machine();
  const dir = other.path('work', 'work.stemma');
  for (const words of [
    ['init', dir],
    ['import', other.giveHistory()],
  ]) {
    const { code, err } = await other.ask(...words);
    if (code !== 0) throw new Error(`stemma ${words.join(' ')} ended with ${code}: ${err}`);
  }
  cpSync(dir, own.path(...place), { recursive: true });
  return own.path(...place);
}

/** The names, sizes and times of everything in a folder. */
export const stateOf = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { mtimeMs, size } = statSync(join(dir, name));
      return `${name} ${size} ${mtimeMs}`;
    });
