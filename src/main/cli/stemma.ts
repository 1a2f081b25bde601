#!/usr/bin/env node
import { isatty } from 'node:tty';
import manifest from '../../../package.json' with { type: 'json' };
import { outsideArchive, projectNode, storeCompiledCode } from '../launch/index.js';
import { protectFiles } from '../system/index.js';
import { exitWhenOutputCloses, printText, say, sayUncaughtErrors } from '../terminal/index.js';

/** The entry of `stemma`. better-sqlite3 crashes on Node 20 and older, so an old Node starts the Node that the project depends on. */
const isNewEnough = Number(process.versions.node.split('.')[0]) >= 22;
const [, , command, ...words] = process.argv;
/** True if this process answers an event of an agent. It then loads little and always exits with 0, because 2 would stop the agent. */
const isEvent = command === 'hook' && !isatty(0) && !words.some((word) => ['--install', '--uninstall', '--help', '-h'].includes(word));

sayUncaughtErrors(isEvent ? 0 : 1);
if (!isEvent) exitWhenOutputCloses();

try {
  // Commands and hooks start many times a day.
  storeCompiledCode();
  protectFiles();
} catch (error) {
  // This user has no home folder.
  say(`stemma: ${(error as Error).message}`);
  process.exit(isEvent ? 0 : 1);
}

if (isNewEnough && command === 'answer-question') {
  // The engine asks a question of this process (engine/analyst.ts).
  const { answerQuestion } = await import('../analyst/index.js');
  await answerQuestion();
} else if (isNewEnough && isEvent) {
  const { runHook } = await import('../hook/index.js');
  await runHook(words);
} else if (command === '--version' && words.length === 0) {
  printText(manifest.version);
} else if (isNewEnough && command === 'log' && (await import('./glance.js')).logAtAGlance(words)) {
  // Printed.
} else if (isNewEnough) {
  // The window is opened most often, and needs least.
  const { run } = await (command === undefined || command === 'web' ? import('./web.js') : import('./program.js'));
  await run(process.argv);
} else {
  const newerNode = projectNode();
  if (newerNode) {
    const { endLike, runForPerson } = await import('../system/index.js');
    const [, script = '', ...rest] = process.argv;
    const failed = (error: Error): void => say(`stemma: ${error.message}`);
    endLike(await runForPerson(newerNode, [outsideArchive(script), ...rest], { env: process.env, failed }));
  } else {
    say(`stemma needs Node 22 or newer. This is Node ${process.version}, and node_modules contains no newer one.`);
    process.exitCode = isEvent ? 0 : 2;
  }
}
