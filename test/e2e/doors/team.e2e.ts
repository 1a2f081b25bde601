import { expect, test } from '../../support/e2e.js';
import { foreignProject } from '../../support/foreign-project.js';

/** Waits for a hub to say its address and first token. */
async function said(lines: () => string[], beginning: string): Promise<string> {
  const line = (): string | undefined => lines().find((each) => each.startsWith(beginning));
  await expect.poll(line, { timeout: 120_000 }).toBeTruthy();
  return line()?.slice(beginning.length) ?? '';
}

test('[E1, E17, E24] a team shares a project through a hub that one command starts', { tag: '@long' }, async ({ machine }) => {
  await using hub = machine.follow('hub', '--data', machine.path('hub'));
  const address = await said(hub.lines, 'The hub answers at ');
  const token = await said(hub.lines, 'Admin token, shown once: ');
  const run = async (...words: string[]) => {
    const { code, out, err } = await machine.ask(...words);
    expect(code, `${words.join(' ')}: ${err}`).toBe(0);
    return JSON.parse(out);
  };
  await machine.ask('import', machine.giveHistory(), '--project', 'work.stemma');
  const mine = ['--project', 'work.stemma', '--json'];
  await run('push', '--preview', '--hub', `${address}/web-shop`, '--token', token, ...mine);
  expect((await run('status', ...mine)).toPush.context).toBeGreaterThan(3);
  const pushed = await run('push', ...mine);
  expect(pushed.sent).toBeGreaterThan(1_000);
  expect((await run('status', ...mine)).toPush).toEqual({});
  const cloned = await run('clone', `${address}/web-shop`, 'copy.stemma', '--token', token, '--json');
  expect(cloned.items.context).toBe(pushed.items.context);
  const ids = async (project: string) =>
    JSON.stringify(await run('log', '--project', project, '--json'))
      .match(/ctx-[0-9a-f]+/g)
      ?.filter((id, place, all) => all.indexOf(id) === place)
      .sort();
  expect(await ids('copy.stemma')).toEqual(await ids('work.stemma'));
  expect((await run('fsck', '--project', 'copy.stemma', '--json')).ok).toBe(true);
  // The same project opens without a clone, and its usage leaves as Parquet.
  const opened = await run('call', 'team.open', '--input', JSON.stringify({ hub: address, project: 'web-shop', token }));
  expect(opened.counts.commits).toBe(pushed.items.context);
  const written = await run(
    'facts',
    `${address}/web-shop`,
    '--to',
    machine.path('facts'),
    '--data',
    machine.path('facts-clone'),
    '--token',
    token,
    '--json',
  );
  expect(written.sessions.rows).toBeGreaterThan(0);
  // What another process adds is sent while a push watches.
  await using watching = machine.follow('push', '--watch', ...mine);
  await machine.ask('ticket', 'create', 'Look at it', '--type', 'task', '--project', 'work.stemma');
  await expect.poll(() => watching.lines().join(), { timeout: 60_000 }).toContain('"ticket":1');
  // A share link opens a page, and a clone of one commit with what comes before it.
  const [tip = ''] = (await ids('work.stemma')) ?? [];
  const link = await run('call', 'team.share', '--input', JSON.stringify({ commit: tip, role: 'reader' }), '--project', 'work.stemma');
  expect(await (await fetch(link.url)).text()).toContain('Fork into my Stemma');
  const forked = await run('clone', link.url, 'forked.stemma', '--json');
  expect(await ids('forked.stemma')).toContain(tip);
  expect(forked.items.context).toBeLessThan(pushed.items.context);
  // The token is on the machine, not in the project.
  const { code } = await machine.ask(
    'pull',
    '--project',
    await foreignProject(machine, 'other', 'other.stemma'),
    '--hub',
    `${address}/web-shop`,
    '--token',
    token,
  );
  expect(code).toBe(1);
  // A wrong token, a hub that does not answer, and an invalid name.
  for (const [place, secret, words] of [
    [`${address}/web-shop`, 'stm_wrong', 'does not accept this token'],
    ['http://127.0.0.1:9/web-shop', token, 'does not answer'],
    ['web-shop', token, 'is not a hub and a project'],
  ] as const)
    expect((await machine.ask('push', ...mine, '--hub', place, '--token', secret)).err).toContain(words);
});
