import { expect, test } from '../../support/e2e.js';
import { startTestIssuer } from '../../support/issuer.js';
import { chooseProject, commits, openSettings, place, sheet } from '../../support/window.js';

test('[E31, E32, E36] a person signs in at a hub, pushes, and opens its project', { tag: '@long' }, async ({ page, machine }) => {
  test.setTimeout(240_000);
  const issuer = await startTestIssuer();
  await using hub = machine.follow('hub', '--data', machine.path('hub'), '--oidc-issuer', issuer.url, '--oidc-audience', 'stemma');
  const said = (beginning: string): string | undefined =>
    hub
      .lines()
      .find((line) => line.startsWith(beginning))
      ?.slice(beginning.length);
  await expect.poll(() => said('Admin token, shown once: '), { timeout: 120_000 }).toBeTruthy();
  const [address = '', token = ''] = [said('The hub answers at '), said('Admin token, shown once: ')];
  await machine.ask('import', machine.giveHistory(), '--project', 'work.stemma');
  const { url } = await machine.web('work.stemma');
  await page.goto(url);
  await expect(commits(page).first()).toBeVisible();
  // An admin gives the access, with the token of the hub.
  await openSettings(page, 'Team');
  const connect = page.getByRole('form', { name: 'Connect with a hub' });
  const field = (name: string) => connect.getByRole('textbox', { name });
  await field('Hub').fill(address);
  await field('Project there').fill('web-shop');
  await connect.getByLabel('Token').fill(token);
  await connect.getByRole('button', { name: 'Connect', exact: true }).click();
  const access = page.getByRole('form', { name: 'Give access' });
  await access.getByRole('textbox', { name: 'Name' }).fill('Sarah');
  await access.getByRole('textbox', { name: 'Signs in as' }).fill('sarah@example.com');
  await access.getByRole('button', { name: 'Give access' }).click();
  await expect(page.getByText('Sarah has access after signing in.')).toBeVisible();
  await page.getByRole('button', { name: 'Disconnect' }).click();
  await page.getByRole('dialog', { name: 'Disconnect this project from its hub?' }).getByRole('button', { name: 'Disconnect' }).click();

  // Without a sign-in, connecting says what to do.
  Object.assign(issuer, { person: { sub: 'subject-1', email: 'sarah@example.com', email_verified: true }, pending: 1_000_000 });
  await field('Hub').fill(address);
  await field('Project there').fill('web-shop');
  await connect.getByRole('button', { name: 'Connect', exact: true }).click();
  await expect(page.getByText(`This machine is not signed in at ${address}.`)).toBeVisible();
  await connect.getByRole('button', { name: 'Sign in' }).click();
  await expect(connect.getByText('Enter the code ABCD-EFGH at')).toBeVisible();
  await expect(page.getByText(`This machine is not signed in at ${address}.`)).toBeHidden();
  await connect.getByRole('button', { name: 'Open the page' }).click();
  await expect(sheet(page)).toContainText(`${issuer.url}/enter`);
  await page.keyboard.press('Escape');
  // The person enters the code at the issuer.
  issuer.pending = 0;
  await expect(connect.getByText(`Signed in at ${address}. Connect without a token.`)).toBeVisible();
  await connect.getByRole('button', { name: 'Connect', exact: true }).click();
  await expect(page.getByText('You are Sarah (writer)')).toBeVisible();
  await page.getByRole('button', { name: 'Push', exact: true }).click();
  await expect(page.getByText(/^Sent \d+ commits/)).toBeVisible();
  await issuer.close();

  // The project opens without a clone. Its list of sessions fetches no contents and counts no calls; a session that is read is counted.
  const asked: string[] = [];
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => void asked.push(String(payload))));
  await page.reload();
  await chooseProject(page, 'Open from a hub…');
  await sheet(page).getByRole('textbox', { name: 'Hub and project' }).fill(`${address}/web-shop`);
  await sheet(page).getByLabel('Token').fill(token);
  await sheet(page).getByRole('button', { name: 'Open', exact: true }).click();
  await expect(sheet(page)).toBeHidden();
  await place(page, 'Sessions').click();
  await expect(page.getByText('on the hub').first()).toBeVisible();
  await place(page, 'Reviews').click();
  await expect(page.getByText('No tickets').first()).toBeVisible();
  expect(asked.some((frame) => frame.includes('session/list'))).toBe(true);
  expect(asked.filter((frame) => frame.includes('usage/sessions'))).toEqual([]);
});
