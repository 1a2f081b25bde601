import { expectAccessible } from '../../support/axe.js';
import { expect, test } from '../../support/e2e.js';
import { agentsWindow, complaints, openAgents, sheet } from '../../support/window.js';

test('[W60][W61] cards are written and edited, and boxes built, reordered and branched', { tag: '@long' }, async ({ page, shared }) => {
  const met = complaints(page);
  const { dir, call } = await agentsWindow(page, shared);
  await openAgents(page, 'Boxes and cards');
  await expect(page.getByText('No cards yet')).toBeVisible();

  // A mistake appears beside its field, which gets the focus. What was typed survives Escape.
  await page.getByRole('button', { name: 'Write a card' }).click();
  await sheet(page).getByLabel('Content').selectOption('json');
  const json = sheet(page).getByRole('textbox', { name: 'JSON' });
  await json.fill('{"limit": ');
  await sheet(page).getByRole('button', { name: 'Write card' }).click();
  await expect(sheet(page).getByRole('alert')).toContainText('This is not valid JSON');
  await expect(json).toBeFocused();
  await expectAccessible(page, '.sheet');
  await page.keyboard.press('Escape');
  await expect(sheet(page)).toHaveCount(0);
  await page.getByRole('button', { name: 'Write a card' }).click();
  await expect(json).toHaveValue('{"limit": ');
  await json.fill('{"limit": 3}');
  await sheet(page).getByRole('combobox', { name: 'Type' }).fill('no such type!');
  await sheet(page).getByRole('button', { name: 'Write card' }).click();
  await expect(sheet(page).getByRole('alert')).toContainText('A card type is names joined by dots');
  await sheet(page).getByRole('combobox', { name: 'Type' }).fill('task.context');
  await sheet(page).getByRole('button', { name: 'Write card' }).click();
  const card = page.getByRole('article', { name: 'Card' });
  await expect(card).toContainText('"limit": 3');

  // A second card, edited: the earlier content is in the audit trail.
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Card…' }).click();
  await sheet(page).getByRole('textbox', { name: 'Text' }).fill('Retry twice');
  await sheet(page).getByRole('button', { name: 'Write card' }).click();
  await expect(card).toContainText('Retry twice');
  await card.getByRole('button', { name: 'Edit card' }).click();
  await sheet(page).getByRole('textbox', { name: 'Text' }).fill('Retry three times');
  await sheet(page).getByRole('button', { name: 'Save' }).click();
  await expect(card.getByText('Retry three times', { exact: true })).toBeVisible();
  await expect(card.getByText('Retry twice', { exact: true })).toBeVisible();

  // Deleting is undone.
  await card.getByRole('button', { name: 'Delete card' }).click();
  await expect(card.getByText('deleted', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(card.getByText('deleted', { exact: true })).toHaveCount(0);

  // A box of both cards, in the other order, and a branch with the first.
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Box…' }).click();
  await sheet(page)
    .getByRole('button', { name: /^Add Retry three times/ })
    .click();
  await sheet(page)
    .getByRole('button', { name: /^Add .*limit/ })
    .click();
  await expectAccessible(page, '.sheet');
  await sheet(page).getByRole('button', { name: 'Create box' }).click();
  const box = page.getByRole('article', { name: 'Box' });
  const blocks = box.getByRole('region', { name: 'Conversation' }).getByRole('listitem');
  await expect(blocks.first()).toContainText('Retry three times');
  await box.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('menuitem', { name: 'Reorder or replace…' }).click();
  await sheet(page)
    .getByRole('button', { name: /^Move Retry three times.* down/ })
    .click();
  await sheet(page).getByRole('button', { name: 'Replace box' }).click();
  await expect(box).toContainText('This box replaces box');
  await expect(blocks.last()).toContainText('Retry three times');
  await box.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('menuitem', { name: 'Branch…' }).click();
  await sheet(page)
    .getByRole('button', { name: /^Remove Retry three times/ })
    .click();
  await sheet(page).getByRole('button', { name: 'Create branch' }).click();
  await expect(box).toContainText('1 card');

  // A card is written into the branch, and the first one appended is not added twice.
  await box.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('menuitem', { name: 'Write a card into it…' }).click();
  await sheet(page).getByRole('textbox', { name: 'Text' }).fill('Then stop');
  await sheet(page).getByRole('button', { name: 'Write card' }).click();
  await card.getByRole('button', { name: 'Back to the box' }).click();
  await expect(box).toContainText('2 cards');
  await box.getByRole('button', { name: 'Change' }).click();
  await page.getByRole('menuitem', { name: 'Append cards…' }).click();
  await sheet(page)
    .getByRole('button', { name: /^Add Then stop/ })
    .click();
  await sheet(page).getByRole('button', { name: 'Append', exact: true }).click();
  await expect(page.getByText('The box has 2 cards now')).toBeVisible();

  // A card that a turn holds is sealed: the form says so and keeps what was typed.
  const [retry] = (await call('card.list', { text: 'Retry three times' })).cards;
  await call('profile.put', { name: 'Writer', card: { content: { kind: 'json', data: { name: 'Writer' } } } });
  const { agentTurnId } = await call('handover.launchPrincipal', { profileName: 'Writer', instruction: 'Go' });
  const { cardId, type, content, metadata, authorId } = retry;
  await call('agent.write', { agentTurnId, cards: [{ cardId, type, content, metadata, authorId }] });
  await page.goto(page.url().replace(/#.*/, `#/boxes?project=${encodeURIComponent(dir)}&card=${retry.cardId}`));
  await card.getByRole('button', { name: 'Edit card' }).click();
  await sheet(page).getByRole('textbox', { name: 'Text' }).fill('Retry four times');
  await sheet(page).getByRole('button', { name: 'Save' }).click();
  await expect(sheet(page).getByRole('alert')).toContainText(retry.cardId);
  await expect(sheet(page).getByRole('textbox', { name: 'Text' })).toHaveValue('Retry four times');
  expect(met).toEqual([]);
});
