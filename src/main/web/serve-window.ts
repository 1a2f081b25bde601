import { engineOptions } from '../launch/index.js';
import { startHost } from './host.js';

export interface ServeOptions {
  paths: readonly string[];
  version: string;
  port: number;
  address: string;
  /** Opens the browser, where there is a screen to open it on. */
  open: boolean;
}

/** Serves the window until the process is told to end, and says where. */
export async function serveWindow({ paths, version, port, address, open: wanted }: ServeOptions): Promise<void> {
  const host = await startHost(engineOptions(paths), version, port, address);
  // Before the address is said: who reads it may already want this to end.
  const end = (): void => void host.close().then(() => process.exit(0));
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  console.log(`Stemma is at ${host.url}`);
  console.log('The link opens once and makes that browser known. Scripts send its token as a bearer, see /api/openapi.json. Ctrl+C ends.');
  const hasScreen = process.platform !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  // Nothing depends on it: the address stands above.
  if (wanted && hasScreen) await import('open').then(({ default: open }) => open(host.url)).catch(() => undefined);
}
