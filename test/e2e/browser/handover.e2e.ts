import { expectAccessible } from '../../support/axe.js';
import { expect, test } from '../../support/e2e.js';
import { complaints, entries, openAgents } from '../../support/window.js';

test('handovers lead to both contexts, cards show earlier versions, and a box is packed', { tag: '@long' }, async ({ page, machine }) => {
  const met = complaints(page);
  const dir = machine.path('agents.stemma');
  const call = async (procedure: string, input: unknown) => {
    const ran = await machine.ask('call', procedure, ...(procedure === 'project.create' ? [] : ['--project', dir]), '--input', JSON.stringify(input));
    expect(ran.code, ran.err).toBe(0);
    return JSON.parse(ran.out);
  };
  await call('project.create', { dir, name: 'Agents' });
  for (const name of ['Lead', 'Writer']) await call('profile.put', { name, card: { content: { kind: 'json', data: { name } } } });
  const lead = await call('handover.launchPrincipal', { profileName: 'lead', instruction: 'Write a report' });
  const note = { cardId: 'note', type: 'agent.thought', authorId: 'lead' };
  // Only a card that no turn holds can change.
  await call('card.add', { card: { ...note, content: { kind: 'text', text: 'The queue hangs' } } });
  const repaired = { ...note, content: { kind: 'text', text: 'The queue hangs at the third try' } };
  await call('card.add', { card: repaired });
  await call('agent.write', { agentTurnId: lead.agentTurnId, cards: [repaired] });
  await call('handover.delegate', {
    sourceAgentId: lead.agentId,
    targetStrategy: 'new',
    targetRef: 'Writer',
    instruction: 'Write about the queue',
    contextBoxId: lead.outputBoxId,
  });

  const { url } = await machine.web(dir);
  await page.goto(url);
  // The window first opens the project of the command line; a tab selected before that would be left again.
  await expect(page).toHaveURL(/project=/);
  await openAgents(page, 'Handovers');
  const handed = page.getByRole('option', { name: 'Lead delegated Writer: Write about the queue' });
  await expect(page.getByRole('option', { name: 'user launched Lead: Write a report' })).toBeVisible();
  await handed.click();
  const pane = page.getByRole('complementary', { name: 'Handover' });
  await expect(pane).toContainText('From argument “instruction”');
  await expect(pane).toContainText('Inherited from box');
  await expect(pane).toContainText('Pointer to the parent');
  await expectAccessible(page, '.handover');

  // Open the context of the target, go back, and open that of the source.
  await pane.getByRole('button', { name: 'Input of Writer' }).click();
  await expect(entries(page)).toContainText('Write about the queue');
  await expect(entries(page)).not.toContainText('Write a report');
  await page.goBack();
  await pane.getByRole('button', { name: 'Context of Lead' }).click();
  await expect(entries(page)).toContainText('Write a report');
  await page.goBack();

  // A card with its earlier version.
  await pane.getByRole('listitem').filter({ hasText: 'agent.thought' }).getByRole('button', { name: 'Card' }).click();
  const card = page.getByRole('article', { name: 'Card' });
  await expect(card).toContainText('The queue hangs at the third try');
  await expect(card).toContainText('Repaired');
  await expect(card.getByText('The queue hangs', { exact: true })).toBeVisible();
  await expectAccessible(page, '.boxes');

  // Pack by hand. The preview drops the card that two inherited boxes contain.
  await openAgents(page, 'Handovers');
  await page.getByRole('radio', { name: 'Pack' }).click();
  await page.getByRole('combobox', { name: 'Profile' }).selectOption('Writer');
  await page.getByRole('textbox', { name: 'Value of instruction' }).fill('Say it in a line');
  const boxes = page.getByRole('combobox', { name: 'Inherit a box' });
  for (const words of [/^The queue hangs at the third try/, /^Write about the queue/]) {
    const option = boxes.getByRole('option', { name: words }).first();
    await boxes.selectOption((await option.getAttribute('value')) ?? '');
  }
  const preview = page.getByRole('region', { name: 'Preview of the box' });
  await expect(preview).toContainText('5 cards, 1 duplicate dropped');
  await expect(preview.getByRole('listitem').first()).toContainText('Say it in a line');
  await expectAccessible(page, '.handover');
  await preview.getByRole('button', { name: 'Create box' }).click();
  const conversation = page.getByRole('region', { name: 'Conversation' });
  await expect(conversation).toContainText('Say it in a line');
  await page.reload();
  await expect(conversation).toContainText('Say it in a line');
  expect(met).toEqual([]);
});
