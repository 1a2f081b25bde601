// node: runs a script of the project on a Node that is new enough: `node src/main/start/node.cjs SCRIPT WORDS…`. That is this Node, or the one that
// npm installed because this one is too old (node/package.json). Without a script, it prints the path of that Node. A very old Node must be able to parse this file, too.
const [major, minor] = process.versions.node.split('.').map(Number);

/** Whether this Node reads TypeScript. */
const isNewEnough = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18);

/** The Node of the project for this platform; undefined if npm did not install it. */
function projectNode() {
  const isWindows = process.platform === 'win32';
  try {
    return require.resolve(`node-${isWindows ? 'win' : process.platform}-${process.arch}/bin/node${isWindows ? '.exe' : ''}`);
  } catch (_missing) {
    return undefined;
  }
}

/** Runs the script on another Node, which is also the first one for the processes that the script starts. */
function runOn(node, words) {
  const { delimiter, dirname } = require('node:path');
  process.env.PATH = `${dirname(node)}${delimiter}${process.env.PATH || ''}`;
  const child = require('node:child_process').spawn(node, words, { stdio: 'inherit' });
  const signals = ['SIGTERM', 'SIGHUP', 'SIGINT'];
  for (const signal of signals)
    process.on(signal, () => {
      // A terminal sends Ctrl+C to both processes.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  child.on('error', (error) => fail(`Cannot start ${node}: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    for (const each of signals) process.removeAllListeners(each);
    process.kill(process.pid, signal);
  });
}

/** Runs the script in this process. */
function runHere(script) {
  process.argv.splice(1, 2, script);
  import(require('node:url').pathToFileURL(script).href).catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    fail(`Stemma is not completely installed: run \`npm ci\`. ${error.message}`);
  });
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

if (major < 20) fail(`Stemma needs Node 20 or newer. This is Node ${process.versions.node}.`);
const node = isNewEnough ? process.execPath : projectNode();
const [, , name, ...words] = process.argv;
const script = name && require('node:path').resolve(name);
if (node && !script) process.stdout.write(`${node}\n`);
else if (isNewEnough) runHere(script);
else if (node) runOn(node, [script, ...words]);
else
  fail(
    `Stemma needs Node 22.18 or newer. This is Node ${process.versions.node}, and npm has not installed the newer one of the project: run \`npm ci\`.`,
  );
