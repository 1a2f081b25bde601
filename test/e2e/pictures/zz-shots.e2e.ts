import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from '../../support/e2e.js';
import { root } from '../../support/machine.js';
import { place } from '../../support/window.js';
import { prompt, answer } from '../../support/claude-lines.js';

const shot = async (page: any, name: string) => {
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.waitForTimeout(400);
    await page.screenshot({ path: `/tmp/numbers/shots/${name}-${theme}.png` });
  }
};
const listed = (page: any) => page.getByRole('listbox', { name: 'Commits, newest first' }).getByRole('option');

test('shots', async ({ page, machine }) => {
  test.setTimeout(400_000);
  const dir = machine.path('numbers.stemma');
  const say = async (...words: string[]) => { const r = await machine.ask(...words); if (r.code !== 0) console.log(words.join(' '), r.out, (r as any).err); return r.out; };
  await say('call', 'project.create', '--input', JSON.stringify({ dir }));
  const folder = machine.path('files'); mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'empty.jsonl'), prompt('e1', 'only asked, nobody answered', { extra: { sessionId: 'empty' } }));
  await say('import', join(folder, 'empty.jsonl'), '--project', dir);
  const vs = process.env.STEMMA_SHARED ?? '/work/shared';
  cpSync(`${vs}/transcripts-more/vscode-chat/copilot_session_simple.json`, join(folder, 'vs.json'));
  console.log(await say('import', join(folder, 'vs.json'), '--project', dir));
  cpSync(join(root, 'test/fixtures/usage/compacted.jsonl'), join(folder, 'c.jsonl'));
  await say('import', join(folder, 'c.jsonl'), '--project', dir);
  mkdirSync(machine.path('stemma'), { recursive: true });
  writeFileSync(machine.path('stemma', 'usage.json'), '{"budgets":{"session":0.001,"day":0.001}}');
  const { url } = await machine.web(dir);
  let mode = '';
  await page.routeWebSocket(/rpc/, (ws) => {
    const server = ws.connectToServer();
    ws.onMessage((m) => {
      const text = String(m);
      if (text.includes('usage/calls')) {
        console.log('MSG', text.slice(0, 300));
        if (mode === 'hold') return;
        if (mode === 'fail') {
          const { i } = JSON.parse(text);
          ws.send(JSON.stringify({ i, t: 2, p: { s: 500, b: { json: { defined: true, code: 'CORRUPT', status: 500, message: 'Object 8f3a is damaged: its bytes do not have its hash.', data: {} } } } }));
          return;
        }
      }
      server.send(m);
    });
    server.onMessage((m) => ws.send(m));
  });
  await page.goto(url); await listed(page).first().waitFor();
  await place(page, 'Sessions').click();
  await page.getByRole('list', { name: 'Over budget' }).waitFor({ timeout: 20_000 }).catch(() => console.log('NO BUDGET'));
  await shot(page, 'sessions-budget');
  await place(page, 'Chain').click();
  const open = async (name: RegExp) => { await place(page, 'Chain').click(); await listed(page).filter({ hasText: name }).first().click(); await place(page, 'Calls').click(); };
  await open(/only asked/);
  await page.waitForTimeout(1500);
  await shot(page, 'calls-empty');
  await place(page, 'Chain').click();
  console.log(await listed(page).allInnerTexts());
  mode = 'hold';
  await open(/go on/);
  await page.waitForTimeout(1800);
  await shot(page, 'calls-loading');
  mode = 'fail';
  await page.reload();
  await page.waitForTimeout(2500);
  await shot(page, 'calls-failing');
  mode = '';
  await page.reload();
  await page.waitForTimeout(2500);
  await shot(page, 'calls');
  await place(page, 'Chain').click();
  const names = await listed(page).allInnerTexts();
  const vsName = names.find((n: string) => !/only asked|go on|compact|login/i.test(n));
  console.log('vs', vsName);
  if (vsName) { await listed(page).filter({ hasText: vsName.split('\n')[0] }).first().click(); await place(page, 'Calls').click(); await page.waitForTimeout(2500); await shot(page, 'calls-vscode'); }
});
