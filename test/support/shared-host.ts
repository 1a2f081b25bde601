import { cpSync } from 'node:fs';
import { expect, type Page } from '@playwright/test';
import { type Machine, machine, type Ran, type WebHost } from './machine.js';
import { commits } from './window.js';

/** What a copy of a prepared project holds: the sample with its story, or the histories of the sample alone. */
type Prepared = 'Sample' | 'Histories';

/**
 * One web host for all tests of a worker that change nothing of their machine but their project, and projects that are imported once.
 * Starting a host and importing take longer than the steps of most tests.
 */
export interface SharedHost extends AsyncDisposable {
  readonly host: WebHost;
  /** A folder for a new project, which no other test has. */
  folder(name: string): string;
  /** Shows an address of the window, such as `/chain?project=…`. */
  show(page: Page, address: string): Promise<void>;
  /** Opens the chain of a new copy of a prepared project, which belongs to the test alone. Returns the folder of the copy. */
  open(page: Page, project: Prepared): Promise<string>;
  /** Puts a copy of a prepared project on the machine of a test that starts its own host. Returns its folder. */
  give(machine: Machine, project: Prepared): Promise<string>;
}

/** Starts a host on a machine with the histories of the sample. */
export async function sharedHost(): Promise<SharedHost> {
  const own = machine();
  own.giveHistory();
  const host = await own.web();
  const cookie = await signIn(host);
  const prepared = new Map<Prepared, Promise<string>>();
  let folders = 0;
  const folder = (name: string): string => own.path(`${folders++}`, `${name}.stemma`);
  const show = async (page: Page, address: string): Promise<void> => {
    await page.context().addCookies([cookie]);
    await page.goto(`${host.origin}/#${address}`);
  };
  const copy = async (project: Prepared, to: Machine, dir: string): Promise<string> => {
    const original = prepared.get(project) ?? prepare(own, project);
    prepared.set(project, original);
    cpSync(await original, dir, { recursive: true });
    succeeded(await to.ask('trust', dir));
    return dir;
  };
  return {
    host,
    folder,
    show,
    async open(page, project) {
      const dir = await copy(project, own, folder(project));
      await show(page, `/chain?project=${encodeURIComponent(dir)}`);
      await expect(commits(page).first()).toHaveAttribute('aria-selected', 'true');
      return dir;
    },
    give: (machine, project) => copy(project, machine, machine.path(`${project}.stemma`)),
    [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
  };
}

/** Makes a project with commands, which close it, so that its files can be copied. Returns its folder. */
async function prepare(own: Machine, project: Prepared): Promise<string> {
  if (project === 'Sample') return (JSON.parse(succeeded(await own.ask('call', 'library.sample'))) as { dir: string }).dir;
  const dir = own.path('Histories.stemma');
  succeeded(await own.ask('init', dir));
  succeeded(await own.ask('import', own.claude, '--project', dir));
  return dir;
}

function succeeded({ code, out, err }: Ran): string {
  if (code !== 0) throw new Error(`A command of the shared host ended with ${code}: ${err}`);
  return out;
}

/** The cookie of a browser that opened the printed link. */
async function signIn({ url, origin }: WebHost): Promise<{ name: string; value: string; url: string }> {
  const answer = await fetch(url, { redirect: 'manual' });
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '') ?? [];
  if (!name || !value) throw new Error(`${origin} did not sign in: ${answer.status}.`);
  return { name, value, url: origin };
}
