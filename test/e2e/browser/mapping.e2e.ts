import { writeFileSync } from 'node:fs';
import { expect, test } from '../../support/e2e.js';
import { chooseProject, commits, complaints, place, sessionRow, sheet } from '../../support/window.js';

const lines = [
  { who: 'human', said: 'List the files', time: '2026-01-01T00:00:00Z' },
  { who: 'bot', model: 'm-1', parts: [{ say: 'Sure.' }, { run: 'ls', id: 't1', with: '{"path": "/missing"}' }] },
  { who: 'tool', parts: [{ got: 'no such folder', id: 't1', failed: true }] },
  { who: 'clock', tick: 7 },
];
const mapping = {
  stemmaMapping: 1,
  name: 'my-tool',
  record: { at: '$.time' },
  entries: [
    { when: "@.who == 'human'", kind: 'text', role: 'user', text: '$.said' },
    {
      each: '$.parts[*]',
      of: [
        { when: '@.say', kind: 'text', text: '$.say', author: '^$.model' },
        { when: '@.run', kind: 'tool_call', toolName: '$.run', toolCallId: '$.id', arguments: { path: '$.with', json: true } },
        { when: '@.got', kind: 'tool_result', toolCallId: '$.id', text: '$.got', isError: '@.failed == true' },
      ],
    },
  ],
};

test('[F43] a file of an unknown tool is previewed by a mapping and imported', { tag: '@long' }, async ({ page, machine }) => {
  const met = complaints(page);
  const file = machine.path('chats.jsonl');
  writeFileSync(file, `${lines.map((line) => `${JSON.stringify(line)}\n`).join('')}{"who": "hum`);
  await page.goto((await machine.web()).url);
  await chooseProject(page, 'Import with a mapping…');
  const form = sheet(page);
  const text = form.getByRole('textbox', { name: 'Mapping' });
  const preview = form.getByRole('button', { name: 'Preview' });
  const take = form.getByRole('button', { name: 'Import', exact: true });
  await expect(preview).toBeDisabled();

  await form.getByRole('textbox', { name: 'File to import' }).fill(`${file}.missing`);
  await preview.click();
  await expect(form).toContainText('Cannot import the file: it does not exist.');
  await form.getByRole('textbox', { name: 'File to import' }).fill(file);
  await text.fill('{"stemmaMapping": 1');
  await preview.click();
  await expect(form).toContainText('The mapping is not JSON');
  await text.fill(JSON.stringify({ ...mapping, entries: [{ kind: 'thought', text: '$.said' }] }));
  await preview.click();
  await expect(form).toContainText('entries.0.kind is "thought". It must be "text"');
  await text.fill(JSON.stringify({ ...mapping, records: '$..[' }));
  await preview.click();
  await expect(form).toContainText('JSONPath');
  await text.fill(JSON.stringify(mapping, null, 2));
  await preview.click();
  await expect(form).toContainText('4 records, 4 entries');
  await expect(form).toContainText('1 record without an entry');
  await expect(form).toContainText('Not JSON, and left out: line 5');
  await expect(form.getByRole('row', { name: /tool call ls/ })).toContainText('/missing');
  await expect(form.getByRole('row', { name: /no such folder/ })).toContainText('error');
  await expect(take).toBeEnabled();

  // A changed mapping must be previewed again.
  await text.fill(JSON.stringify({ ...mapping, name: 'renamed-tool' }));
  await expect(take).toBeDisabled();
  await preview.click();
  await take.click();
  await expect(commits(page).filter({ hasText: 'List the files' })).toBeVisible();
  await place(page, 'Sessions').click();
  await expect(sessionRow(page, /List the files/)).toContainText('renamed-tool');
  await expect(sessionRow(page, /List the files/).getByTitle('Experimental: read by your own mapping')).toHaveText('experimental');
  expect(met).toEqual([]);
});
