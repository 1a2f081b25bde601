import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { kill, type Machine } from './machine.js';

/** Whether this machine has a message bus and a keyring, as a desktop does. */
export const hasKeyring = (): boolean =>
  process.platform === 'linux' && ['dbus-daemon', 'gnome-keyring-daemon'].every((name) => spawnSync('which', [name]).status === 0);

/** Starts an unlocked keyring for all later processes of the machine. */
export async function openKeyring(machine: Machine): Promise<{ close(): Promise<void> }> {
  const bus = spawn('dbus-daemon', ['--session', '--nofork', '--nopidfile', '--print-address'], { env: machine.env });
  const address = await firstLine(bus);
  machine.env.DBUS_SESSION_BUS_ADDRESS = address;
  const keyring = spawn('gnome-keyring-daemon', ['--foreground', '--unlock', '--components=secrets'], { env: machine.env });
  const isUp = firstLine(keyring);
  keyring.stdin.end('the password of the keyring');
  await isUp;
  return { close: async () => void (await Promise.all([keyring, bus].filter((child) => child.exitCode === null).map(kill))) };
}

/** The first output line of a process. Rejects if it ends without one. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (part: Buffer) => {
      text += part.toString();
      if (text.includes('\n')) resolve(text.split('\n', 1)[0] ?? '');
    });
    child.once('exit', (code) => reject(new Error(`${child.spawnfile} ended with ${code} without output`)));
    child.once('error', reject);
  });
}
