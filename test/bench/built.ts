import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';

/** The repository, with the current sources built. Temporary files of the bench are in a folder of `out/bench`. */
export function builtRoot(folder: string): string {
  const root = resolve(folder, '..', '..', '..');
  execFileSync(process.execPath, [join(root, 'src', 'main', 'start', 'index.ts'), '--build-if-stale'], { cwd: root, stdio: 'ignore' });
  return root;
}
