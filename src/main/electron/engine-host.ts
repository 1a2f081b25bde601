import { spawn } from 'node:child_process';
import { app, MessageChannelMain, type MessagePortMain, safeStorage, utilityProcess } from 'electron';
import { attempt } from '../../core/base/index.js';
import { thisSystem } from '../../core/system/index.js';
import { built, type EngineOptions, type FromEngine, forNode, outsideArchive, shellCommand, type ToEngine } from '../launch/index.js';
import { checkForUpdates } from './updates.js';

/** A running engine process. It hands out ports until it ends. */
export interface EngineHost {
  connect(): MessagePortMain;
  /** Changes the start parameters for windows that connect from now on. */
  setStartup(startup: EngineOptions['startup']): void;
  onEnd(listener: (reason: string) => void): void;
  stop(): void;
}

const entry = built('engine', 'engine.js');

function answerFor(message: FromEngine, say: (answer: ToEngine) => void): void {
  if (message.kind === 'vault') say(vaultAnswer(message));
  if (message.kind === 'update') void checkForUpdates().then((result) => say({ kind: 'update', number: message.number, result }));
}

const startMessage = (options: EngineOptions): ToEngine => ({
  kind: 'start',
  options,
  desktop: { command: shellCommand(app.isPackaged, app.getPath('exe')) },
});

/** Starts the engine as Electron's utility process, which can receive ports. */
export function startUtility(options: EngineOptions): EngineHost {
  const child = utilityProcess.fork(entry, [], { serviceName: 'Stemma engine' });
  const say = (message: ToEngine, ports?: MessagePortMain[]): void => child.postMessage(message, ports);
  const end = onFirstEnd((report) => {
    child.on('message', (message: FromEngine) => {
      if (message.kind === 'failed') report(message.message);
      answerFor(message, say);
    });
    child.on('exit', (code) => report(`the engine process ended with code ${code}`));
  });
  say(startMessage(options));
  return hostOver(say, end, (connection, port) => say({ kind: 'connect', connection, caller: 'window' }, [port]));
}

/** The host of an engine that hears `say`. `open` gives it the port of a new connection. */
function hostOver(
  say: (message: ToEngine) => void,
  onEnd: EngineHost['onEnd'],
  open: (connection: number, port: MessagePortMain) => void,
): EngineHost {
  let connections = 0;
  return {
    connect() {
      const { port1, port2 } = new MessageChannelMain();
      open(++connections, port2);
      return port1;
    },
    setStartup: (startup) => say({ kind: 'startup', startup }),
    onEnd,
    stop: () => say({ kind: 'stop' }),
  };
}

/** Starts the engine in a Node process, for debugging and old Electrons. It cannot get ports, so each frame has the number of its connection. */
export function startNode(node: string, options: EngineOptions): EngineHost {
  // Without Electron's own switches.
  const { ELECTRON_RUN_AS_NODE: _, NODE_OPTIONS: __, ...env } = process.env;
  const child = spawn(node, [outsideArchive(entry)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced', env });
  const ports = new Map<number, MessagePortMain>();
  const say = (message: ToEngine): void => {
    if (child.connected) child.send(message);
  };
  const closePorts = (): void => {
    for (const port of ports.values()) port.close();
    ports.clear();
  };
  const end = onFirstEnd((report) => {
    child.on('error', (error) => report(`${node} cannot run the engine: ${error.message}`));
    child.on('exit', (code, signal) => {
      closePorts();
      report(`the engine process ended with ${signal ?? `code ${code}`}`);
    });
    child.on('message', (data) => {
      const message = data as FromEngine;
      if (message.kind === 'failed') report(message.message);
      answerFor(message, say);
      if (message.kind === 'frame') ports.get(message.connection)?.postMessage(message.frame);
      if (message.kind === 'close') {
        ports.get(message.connection)?.close();
        ports.delete(message.connection);
      }
    });
  });
  say(startMessage(forNode(options)));
  return hostOver(say, end, (connection, port) => {
    ports.set(connection, port);
    port.on('message', ({ data }) => say({ kind: 'frame', connection, frame: data }));
    port.on('close', () => {
      if (ports.delete(connection)) say({ kind: 'close', connection });
    });
    say({ kind: 'connect', connection, caller: 'window' });
    port.start();
  });
}

/** Calls the listener with the first reported end, even if it was reported earlier. */
function onFirstEnd(watch: (report: (reason: string) => void) => void): (listener: (reason: string) => void) => void {
  const { promise, resolve } = Promise.withResolvers<string>();
  watch(resolve);
  return (listener) => void promise.then(listener);
}

/** Without a keyring, Chromium would encrypt with a publicly known password, which protects nothing. */
function problem(): string | undefined {
  const isOpen = thisSystem === 'linux' && ['basic_text', 'unknown'].includes(safeStorage.getSelectedStorageBackend());
  return safeStorage.isEncryptionAvailable() && !isOpen
    ? undefined
    : 'The operating system cannot store secrets here because no keyring is open. Set ANTHROPIC_API_KEY, GEMINI_API_KEY, or OPENAI_API_KEY (and OPENAI_BASE_URL), in the environment instead';
}

/** Seals or opens a secret for the engine, with the keys of the logged-in person. */
function vaultAnswer({ number, act, text }: Extract<FromEngine, { kind: 'vault' }>): ToEngine {
  const missing = problem();
  if (missing !== undefined) return { kind: 'vault', number, problem: missing };
  const answer = attempt(() =>
    act === 'seal' ? safeStorage.encryptString(text).toString('base64') : safeStorage.decryptString(Buffer.from(text, 'base64')),
  );
  if (answer !== undefined) return { kind: 'vault', number, text: answer };
  return { kind: 'vault', number, problem: 'The operating system can no longer open this key. Enter it again in the settings' };
}
