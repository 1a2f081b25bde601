import AxeBuilder from '@axe-core/playwright';
import { expect, test } from '../../support/e2e.js';
import { complaints, entries } from '../../support/window.js';

test('from a handover into either agent, a card and what it was before, and a box packed by hand', async ({ page, machine }) => {
  const met = complaints(page);
  const dir = machine.path('agents.stemma');
  const call = async (procedure: string, input: unknown) => {
    const ran = await machine.run('call', procedure, ...(procedure === 'project.create' ? [] : ['--project', dir]), '--input', JSON.stringify(input));
    expect(ran.code, ran.err).toBe(0);
    return JSON.parse(ran.out);
  };
  await call('project.create', { dir, name: 'Agents' });
  for (const name of ['Lead', 'Writer']) await call('profile.put', { name, card: { content: { kind: 'json', data: { name } } } });
  const lead = await call('handover.launchPrincipal', { profileName: 'lead', instruction: 'Write a report' });
  const note = { cardId: 'note', type: 'agent.thought', authorId: 'lead' };
  await call('agent.write', { agentTurnId: lead.agentTurnId, cards: [{ ...note, content: { kind: 'text', text: 'The queue hangs' } }] });
  await call('card.add', { card: { ...note, content: { kind: 'text', text: 'The queue hangs at the third try' } } });
  await call('handover.delegate', {
    sourceAgentId: lead.agentId,
    targetStrategy: 'new',
    targetRef: 'Writer',
    instruction: 'Write about the queue',
    contextBoxId: lead.outputBoxId,
  });

  const { url } = await machine.web(dir);
  await page.goto(url);
  // The window goes to the project that it was started with; a tab chosen before that would be left again.
  await expect(page).toHaveURL(/project=/);
  await page.getByRole('tab', { name: 'Handover' }).click();
  const handed = page.getByRole('option', { name: 'Lead delegated Writer: Write about the queue' });
  await expect(page.getByRole('option', { name: 'user launched Lead: Write a report' })).toBeVisible();
  await handed.click();
  const pane = page.getByRole('complementary', { name: 'Handover' });
  await expect(pane).toContainText('packed from argument “instruction”');
  await expect(pane).toContainText('inherited from box');
  await expect(pane).toContainText('pointer to the parent');
  expect((await new AxeBuilder({ page }).include('.handover').analyze()).violations).toEqual([]);

  // Into the one that was handed to, and back, and into the one that handed over.
  await pane.getByRole('button', { name: 'What Writer was given' }).click();
  await expect(entries(page)).toContainText('Write about the queue');
  await expect(entries(page)).not.toContainText('Write a report');
  await page.goBack();
  await pane.getByRole('button', { name: 'Lead at that moment' }).click();
  await expect(entries(page)).toContainText('Write a report');
  await page.goBack();

  // A card, and what it was before.
  await pane.getByRole('listitem').filter({ hasText: 'agent.thought' }).getByRole('button', { name: 'Card' }).click();
  const card = page.getByRole('article', { name: 'Card' });
  await expect(card).toContainText('The queue hangs at the third try');
  await expect(card).toContainText('Repaired');
  await expect(card.getByText('The queue hangs', { exact: true })).toBeVisible();
  expect((await new AxeBuilder({ page }).include('.boxes').analyze()).violations).toEqual([]);

  // Packed by hand: the same box twice is one repetition a card, seen before anything is written.
  await page.getByRole('tab', { name: 'Handover' }).click();
  await page.getByRole('radio', { name: 'Pack' }).click();
  await page.getByRole('combobox', { name: 'Profile' }).selectOption('Writer');
  await page.getByRole('textbox', { name: 'Value of instruction' }).fill('Say it in a line');
  const boxes = page.getByRole('combobox', { name: 'Inherit a box' });
  for (const words of [/^The queue hangs at the third try/, /^Write about the queue/]) {
    const option = boxes.getByRole('option', { name: words }).first();
    await boxes.selectOption((await option.getAttribute('value')) ?? '');
  }
  const preview = page.getByRole('region', { name: 'The box that would be written' });
  await expect(preview).toContainText('5 cards, 1 repetition left out');
  await expect(preview.getByRole('listitem').first()).toContainText('Say it in a line');
  expect((await new AxeBuilder({ page }).include('.handover').analyze()).violations).toEqual([]);
  await preview.getByRole('button', { name: 'Write the box' }).click();
  const conversation = page.getByRole('region', { name: 'Conversation' });
  await expect(conversation).toContainText('Say it in a line');
  await page.reload();
  await expect(conversation).toContainText('Say it in a line');
  expect(met).toEqual([]);
});
