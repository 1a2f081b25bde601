#!/usr/bin/env node
import * as modules from 'node:module';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { dataDirOf } from '../launch/index.js';

/**
 * The entry of `stemma`. better-sqlite3 needs Node 22 or newer and crashes on older ones, so that an old Node hands
 * over to the one that the project brings along before anything native is loaded.
 */
const enough = Number(process.versions.node.split('.')[0]) >= 22;
const [, , command, ...words] = process.argv;
/** An agent's event: it is answered by the little that it needs, and no fault of ours is the agent's (exit code 2 would hold it). */
const isEvent = command === 'hook' && !isatty(0) && !words.some((word) => ['--install', '--uninstall', '--help', '-h'].includes(word));

// Commands and hooks start many times a day: what was compiled once is not compiled again. In a folder that is this person's alone.
// By the namespace, for an older Node refuses to load an import that it does not have.
if (enough) modules.enableCompileCache(join(dataDirOf(), 'compiled'));

if (enough && isEvent) {
  const { runHook } = await import('../hook/index.js');
  await runHook(words);
} else if (enough) {
  const { run } = await import('./program.js');
  await run(process.argv);
} else {
  const newer = bundledNode();
  if (newer) {
    const { spawn } = await import('node:child_process');
    const child = spawn(newer, process.argv.slice(1), { stdio: 'inherit' });
    const signals = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const;
    for (const signal of signals)
      process.on(signal, () => {
        // A terminal sends Ctrl+C to both of us.
        if (signal === 'SIGTERM' || signal === 'SIGHUP' || !process.stdin.isTTY) child.kill(signal);
      });
    child.on('exit', (code, signal) => {
      if (signal === null) process.exit(code ?? 1);
      for (const each of signals) process.removeAllListeners(each);
      process.kill(process.pid, signal);
    });
  } else {
    console.error(`stemma needs Node 22 or newer; this is ${process.version}, and no newer one is in node_modules.`);
    process.exitCode = isEvent ? 0 : 2;
  }
}

function bundledNode(): string | undefined {
  try {
    return modules.createRequire(import.meta.url).resolve('node/bin/node');
  } catch {
    return undefined;
  }
}
