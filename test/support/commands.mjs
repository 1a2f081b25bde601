/**
 * Runs commands of the built `stemma` one after another in this process, for `ask` of machine.ts. The entry is evaluated anew for each
 * command, and what it imports is loaded once. Each command has its own environment and folder, so commands of several machines run here.
 */
import { pathToFileURL } from 'node:url';

const [, , script = ''] = process.argv;
// Each command listens anew for errors.
for (const emitter of [process, process.stdout]) emitter.setMaxListeners(0);

/** Collects what is written to a stream from now on. */
function collected(stream) {
  const parts = [];
  stream.write = (part, encoding, done) => {
    parts.push(typeof part === 'string' ? Buffer.from(part) : Buffer.from(part));
    const written = typeof encoding === 'function' ? encoding : done;
    if (written) process.nextTick(written);
    return true;
  };
  return () => Buffer.concat(parts).toString('utf8');
}

process.on('disconnect', () => process.exit());

let commands = 0;
process.on('message', async ({ words, cwd, env }) => {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv = [process.execPath, script, ...words];
  process.exitCode = undefined;
  const [out, err] = [collected(process.stdout), collected(process.stderr)];
  await import(`${pathToFileURL(script).href}?${commands++}`);
  const code = process.exitCode ?? 0;
  process.exitCode = undefined;
  // The folder of a test is deleted after it.
  process.chdir('/');
  process.send({ code, out: out(), err: err() });
});
