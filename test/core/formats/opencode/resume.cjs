// What the real OpenCode sends when it goes on with a session: `node resume.cjs LIB HOME SESSION [FILE]` imports FILE first, with the
// agent's own `import`, into the database under HOME. LIB is ../shared/tools/lib/agents.cjs, which runs it in a cage against a stand-in.
const { spawnSync, spawn } = require('node:child_process');
const { mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const http = require('node:http');
const { join } = require('node:path');

if (process.argv[2] === '--inside') inside(JSON.parse(readFileSync(process.argv[3], 'utf8')));
else {
  const [lib, home, session, file] = process.argv.slice(2);
  const { executable, isolated } = require(lib);
  mkdirSync(home, { recursive: true });
  process.stdout.write(JSON.stringify(isolated(__filename, { lib, home, session, file, executable: executable('opencode') }, home)));
}

function inside({ lib, home, session, file, executable, result }) {
  const { environment, loopbackUp, standIn } = require(lib);
  loopbackUp();
  const cwd = join(home, 'project');
  mkdirSync(cwd, { recursive: true });
  const env = { ...process.env, ...environment('opencode', join(home, '.opencode')) };
  const seen = [];
  const server = standIn(http, () => ({ text: 'OK' }), seen);
  server.on('listening', () => {
    const imported = file ? spawnSync(executable, ['import', file], { cwd, env, encoding: 'utf8', timeout: 60_000 }) : undefined;
    const child = spawn(executable, ['run', '--format', 'json', '--model', 'anthropic/claude-sonnet-4-5', '--session', session, 'PING'], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = imported ? imported.stdout + imported.stderr : '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data));
    const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
    child.on('exit', () => {
      clearTimeout(timer);
      const messages = seen.map((body) => body.messages).find((list) => JSON.stringify(list?.at(-1)?.content ?? '').includes('PING'));
      writeFileSync(result, JSON.stringify({ messages: messages ?? null, said: said.slice(-2000) }));
      server.close();
      process.exit(0);
    });
  });
}
