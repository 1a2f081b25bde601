import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from '../../support/e2e.js';
import { importAll, place } from '../../support/window.js';

const out = '/tmp/wt-systems-shots';
let seed = 7;
const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
const pick = <T>(of: readonly T[]): T => of[Math.floor(random() ** 1.6 * of.length)] as T;

function session(n: number, start: number): string {
  const lines: unknown[] = [];
  const cwd = pick(['/work/orders-service', '/work/payments-api', '/work/storefront', '/work/infra', '/work/mailer']);
  const model = pick(['claude-opus-4-5-20251101', 'claude-sonnet-4-5-20250929', 'claude-haiku-4-5-20251001', 'my-local-model']);
  const id = `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`;
  let at = start;
  let parent: string | null = null;
  let m = 0;
  const add = (type: string, message: unknown) => {
    const uuid = `${n}-${m++}`;
    lines.push({ parentUuid: parent, isSidechain: false, sessionId: id, cwd, type, uuid, timestamp: new Date(at).toISOString(), message });
    parent = uuid;
    at += 4_000 + random() * 20_000;
  };
  for (let turn = 0; turn < 2 + random() * 4; turn++) {
    add('user', { role: 'user', content: `${pick(['Move orders to the outbox', 'Load test, 400 orders a minute', 'Rewrite the refund webhooks', 'Lease tokens for the retry queue'])} ${n}.${turn}` });
    let read = 9_000;
    for (let c = 0; c < 2 + random() * 5; c++) {
      const tool = pick(['Bash', 'Edit', 'Read', 'Grep', 'WebFetch']);
      const miss = random() < 0.1;
      add('assistant', { role: 'assistant', id: `msg_${n}_${m}`, type: 'message', model, stop_reason: 'tool_use', content: [{ type: 'tool_use', id: `t${n}_${m}`, name: tool, input: { file_path: `${cwd}/src/a${c}.ts`, command: 'npm test' } }], usage: { input_tokens: 40, cache_read_input_tokens: miss ? 0 : read, cache_creation_input_tokens: miss ? read + 4_000 : 4_000, output_tokens: Math.floor(100 + random() * 3_000) } });
      read += 4_000 + random() * 9_000;
      add('user', { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${n}_${m - 1}`, content: 'x', is_error: random() < 0.07 }] });
    }
    add('assistant', { role: 'assistant', id: `msg_${n}_${m}`, type: 'message', model, stop_reason: 'end_turn', content: [{ type: 'text', text: 'Done.' }], usage: { input_tokens: 40, cache_read_input_tokens: read, cache_creation_input_tokens: 900, output_tokens: 400 } });
  }
  return `${lines.map((one) => JSON.stringify(one)).join('\n')}\n`;
}

test('shots', async ({ page, machine }) => {
  test.setTimeout(600_000);
  mkdirSync(out, { recursive: true });
  const folder = join(machine.claude, 'projects', '-work');
  const now = Date.now();
  const shoot = async (name: string) => {
    await page.waitForTimeout(1_500);
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      await page.waitForTimeout(250);
      await page.screenshot({ path: join(out, `${name}-${scheme}.png`), animations: 'disabled' });
    }
  };
  const wide = () => page.setViewportSize({ width: 1440, height: 900 });
  const narrow = () => page.setViewportSize({ width: 760, height: 900 });
  mkdirSync(folder, { recursive: true });
  mkdirSync(machine.path('stemma'), { recursive: true });
  writeFileSync(machine.path('stemma', 'usage.json'), '{"budgets":{"day":1.2,"session":30}}');
  for (let n = 0; n < 220; n++) writeFileSync(join(folder, `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000.jsonl`), session(n, now - random() * 178 * 86_400_000 * (0.3 + random() * 0.7)));
  const { url } = await machine.web();
  await page.goto(url);
  await importAll(page);
  await wide();
  await place(page, 'Sessions').click();
  await shoot('sessions');
  let from = Date.now();
  await place(page, 'Usage').click();
  await page.getByRole('table').first().waitFor();
  console.log('usage opened', Date.now() - from);
  await page.waitForTimeout(3_000);
  await place(page, 'Sessions').click();
  await page.reload();
  await page.getByRole('treegrid').first().waitFor();
  await page.waitForTimeout(4_000);
  from = Date.now();
  await place(page, 'Usage').click();
  await page.getByRole('table').first().waitFor();
  console.log('usage opened again', Date.now() - from);
  await page.waitForTimeout(3_000);
  const bars = page.getByRole('region', { name: 'Chart' }).locator('.usage-bars > button');
  await bars.nth((await bars.count()) - 3).click();
  await page.getByRole('table', { name: /^Usage/ }).getByRole('button', { name: /^Sessions of / }).first().click();
  await shoot('usage');
  await narrow();
  await shoot('usage-narrow');
  await wide();
  await page.getByRole('radio', { name: '30 days' }).click();
  await page.getByRole('radio', { name: 'Tool', exact: true }).click();
  await shoot('usage-tools');
  await page.getByRole('radio', { name: 'Custom' }).click();
  await page.getByRole('radio', { name: 'Session', exact: true }).click();
  await shoot('usage-sessions');
  from = Date.now();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'SQL' }).click();
  await shoot('sql-empty');
  await page.getByRole('button', { name: 'Cost by model' }).click();
  await page.getByRole('region', { name: 'Result' }).waitFor();
  await page.getByRole('textbox', { name: 'SQL statement' }).press('Control+End');
  await page.getByRole('textbox', { name: 'SQL statement' }).pressSequentially('\n-- x\n, ca');
  await shoot('sql');
  await page.getByRole('radio', { name: 'Chart' }).click();
  await narrow();
  await shoot('sql-narrow');
  await wide();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Findings' }).click();
  await page.getByRole('navigation', { name: 'Rules' }).waitFor({ timeout: 60_000 });
  await shoot('findings');
  await narrow();
  await shoot('findings-narrow');
  // empty
  await machine.ask('call', 'project.create', '--input', JSON.stringify({ dir: machine.path('Empty.stemma') }));
  await wide();
  await page.evaluate(([dir]) => (location.hash = `#/usage?project=${encodeURIComponent(dir as string)}`), [machine.path('Empty.stemma')]);
  await shoot('empty');
});
