import { expect, type Page } from '@playwright/test';
import { machine, type WebHost } from './machine.js';
import { giveProject, historiesOfRun, type Prepared } from './prepared.js';
import { commits } from './window.js';

/**
 * One web host for all tests of a worker that change nothing of their machine but their project. Starting a host takes longer than the steps of
 * most tests.
 */
export interface SharedHost extends AsyncDisposable {
  readonly host: WebHost;
  /** A folder for a new project, which no other test has. */
  folder(name: string): string;
  /** Shows an address of the window, such as `/chain?project=…`. */
  show(page: Page, address: string): Promise<void>;
  /** Opens the chain of a new copy of a prepared project, which belongs to the test alone. Returns the folder of the copy. */
  open(page: Page, project: Prepared): Promise<string>;
}

/** Starts a host on a machine with the histories of the sample. */
export async function sharedHost(): Promise<SharedHost> {
  const own = machine();
  // A project knows where its files were, so all workers have them at one place.
  own.env.CLAUDE_CONFIG_DIR = await historiesOfRun();
  const host = await own.web();
  const cookie = await signIn(host);
  let folders = 0;
  const folder = (name: string): string => own.path(`${folders++}`, `${name}.stemma`);
  const show = async (page: Page, address: string): Promise<void> => {
    await page.context().addCookies([cookie]);
    await page.goto(`${host.origin}/#${address}`);
  };
  return {
    host,
    folder,
    show,
    async open(page, project) {
      const dir = await giveProject(own, project, folder(project));
      await show(page, `/chain?project=${encodeURIComponent(dir)}`);
      await expect(commits(page).first()).toHaveAttribute('aria-selected', 'true');
      return dir;
    },
    [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
  };
}

/** The cookie of a browser that opened the printed link. */
async function signIn({ url, origin }: WebHost): Promise<{ name: string; value: string; url: string }> {
  const answer = await fetch(url, { redirect: 'manual' });
  const [, name, value] = /^([^=]+)=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '') ?? [];
  if (!name || !value) throw new Error(`${origin} did not sign in: ${answer.status}.`);
  return { name, value, url: origin };
}
