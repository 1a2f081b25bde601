import type { Page } from '@playwright/test';
import { expectAccessible } from '../../support/axe.js';
import { expect, test } from '../../support/e2e.js';
import { messageEvents, modelServer, stream } from '../../support/model-server.js';
import { giveProject } from '../../support/prepared.js';
import { agentsWindow, complaints, composeIn, entries, openAgents, place, sheet } from '../../support/window.js';

const send = (page: Page, name: string): Promise<void> => sheet(page).getByRole('button', { name, exact: true }).click();
const fill = (page: Page, name: string, text: string): Promise<void> => sheet(page).getByRole('textbox', { name }).fill(text);

test('[W62][W63] profiles, a turn by hand, a fork with joined results, a saved handover', async ({ page, shared }) => {
  const met = complaints(page);
  await agentsWindow(page, shared);
  await openAgents(page, 'Profiles');
  await page.getByRole('article').or(page.getByText('No profiles yet')).waitFor();
  await page.getByRole('button', { name: 'New profile' }).first().click();
  await fill(page, 'Name (required)', 'Writer');
  await fill(page, 'System prompt', 'You write.');
  await expectAccessible(page, '.sheet');
  await send(page, 'Create profile');
  const profile = page.getByRole('article', { name: 'Profile' });
  await expect(profile).toContainText('You write.');
  await profile.getByRole('button', { name: 'Edit…' }).click();
  await fill(page, 'System prompt', 'You write briefly.');
  await send(page, 'Save version');
  await expect(profile).toContainText('2 versions');
  await expectAccessible(page, '.profiles');
  await profile.getByRole('button', { name: 'Restore' }).click();
  await expect(profile).toContainText('3 versions');
  await expect(profile.getByRole('region', { name: 'System prompt' })).toContainText('You write.');

  await profile.getByRole('button', { name: 'Delete the profile Writer' }).click();
  await expect(page.getByText('No profiles yet')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(profile).toContainText('3 versions');

  // A template in two versions, and what an agent of it starts from.
  await page.getByRole('radio', { name: 'Templates' }).click();
  await page.getByRole('button', { name: 'New template' }).first().click();
  await fill(page, 'Name (required)', 'reviewer');
  await fill(page, 'Content', 'Review the change.');
  await send(page, 'Store version');
  const template = page.getByRole('article', { name: 'Template' });
  await template.getByRole('button', { name: 'Next version…' }).click();
  await fill(page, 'Content', 'Review the change twice.');
  await send(page, 'Store version');
  await expect(page.getByRole('option', { name: /reviewer@2/ })).toBeVisible();
  await expect(template).toContainText('Review the change twice.');
  await template.getByRole('button', { name: 'Start an agent…' }).click();
  await send(page, 'Build');
  await expect(template.getByRole('region', { name: 'What the agent starts from' })).toContainText('fresh, without a context');
  await expectAccessible(page, '.profiles');

  // Launch an agent, and carry its turn out by hand.
  await page.getByRole('radio', { name: 'Profiles' }).click();
  await profile.getByRole('button', { name: 'Launch an agent…' }).click();
  await fill(page, 'Instruction', 'Describe the queue');
  // Without a provider, the form says so and offers to add one.
  await expect(sheet(page)).toContainText('No provider has a model yet.');
  await expect(sheet(page).getByRole('button', { name: 'Add a provider' })).toBeVisible();
  await sheet(page).getByRole('combobox', { name: 'Who works' }).selectOption('later');
  await send(page, 'Launch');
  const pane = page.getByRole('complementary', { name: 'Handover' });
  const console = pane.getByRole('region', { name: 'Turn console' });
  await console.getByRole('button', { name: 'Begin by hand' }).click();
  await expect(console).toContainText('The turn is open');
  await console.getByRole('button', { name: 'Write a card…' }).click();
  await fill(page, 'Text', 'The queue holds orders.');
  await send(page, 'Write card');
  await console.getByText('What its model sees').click();
  const seen = console.getByRole('list', { name: 'Messages to the model' });
  await expect(seen).toContainText('You write.');
  await expect(seen).toContainText('The queue holds orders.');
  await console.getByRole('button', { name: 'Suspend…' }).click();
  await fill(page, 'Ids of the tool calls', 'call-1');
  await send(page, 'Suspend');
  await expect(console).toContainText('waits for 1 result');
  await console.getByRole('button', { name: 'Answer…' }).click();
  await fill(page, 'Text', 'Two orders');
  await send(page, 'Answer');
  await expect(console).toContainText('The turn is open');
  await expectAccessible(page, '.handover');
  await console.getByRole('button', { name: 'End…', exact: true }).click();
  await send(page, 'End turn');
  await expect(pane).toContainText('success');

  // Fork and join: a mistake appears in its row.
  await page.getByRole('button', { name: 'Hand over' }).click();
  await page.getByRole('menuitem', { name: 'Fork and join several tasks…' }).click();
  const from = sheet(page).getByRole('combobox', { name: 'From' });
  await from.selectOption({ index: 1 });
  for (const task of [1, 2]) {
    const row = sheet(page).getByRole('group', { name: `Tasks ${task}` });
    await row.getByRole('combobox', { name: 'Profile or agent' }).fill('Writer');
    if (task === 1) await row.getByRole('textbox', { name: 'Instruction' }).fill('Describe the lease');
  }
  await send(page, 'Dispatch tasks');
  const second = sheet(page).getByRole('group', { name: 'Tasks 2' });
  await expect(second.getByRole('alert')).toContainText('Instruction is required.');
  await expect(second.getByRole('textbox', { name: 'Instruction' })).toBeFocused();
  await second.getByRole('textbox', { name: 'Instruction' }).fill('Describe the retry');
  await expectAccessible(page, '.sheet');
  await send(page, 'Dispatch tasks');
  await expect(console.getByText('Joined results')).toBeVisible();
  await expect(page.getByRole('option', { name: /Describe the retry/ })).toBeVisible();

  // A handover is saved by name, deleted and restored.
  await page.getByRole('radio', { name: 'Pack' }).click();
  await page.getByRole('combobox', { name: 'Profile' }).selectOption('Writer');
  await page.getByRole('button', { name: 'Save…' }).click();
  await fill(page, 'Name', 'To the writer');
  await send(page, 'Save');
  const saved = page.getByRole('combobox', { name: 'Saved handover' });
  await expect(saved.getByRole('option', { name: 'To the writer' })).toBeAttached();
  await page.getByRole('button', { name: 'Delete To the writer' }).click();
  await expect(saved.getByRole('option', { name: 'To the writer' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(saved.getByRole('option', { name: 'To the writer' })).toBeAttached();
  await page.reload();
  await saved.selectOption({ label: 'To the writer' });
  await expect(page.getByRole('combobox', { name: 'Profile' })).toHaveValue('Writer');
  expect(met).toEqual([]);
});

test('[W64, W73] a reply ends a wait in a space, and an agent gets goals, memories and plans', { tag: '@long' }, async ({ page, shared }) => {
  const met = complaints(page);
  const { dir, call } = await agentsWindow(page, shared);
  const [me, ada] = await Promise.all([
    call('space.addEntity', { name: 'Me', type: 'human' }),
    call('space.addEntity', { name: 'Ada', type: 'agent' }),
  ]);
  const space = await call('space.create', { name: 'Retry', members: [me.entityId, ada.entityId] });
  await page.goto(page.url().replace(/#.*/, `#/timeline?project=${encodeURIComponent(dir)}&space=${space.spaceId}`));
  await page.reload();
  const box = page.getByRole('textbox', { name: 'Message' });
  const chat = page.getByRole('region', { name: 'Messages', exact: true });
  await box.fill('Does it hold 400 orders?');
  await composeIn(box);
  await expect(box).toHaveValue('Does it hold 400 orders?');
  await expect(chat.getByRole('article')).toHaveCount(0);
  await box.press('Enter');
  await expect(chat.getByRole('article')).toHaveCount(1);

  // The agent asks and waits for me; my reply resumes it.
  await page.getByLabel('Write as').selectOption({ label: 'Ada (agent)' });
  await page.getByRole('checkbox', { name: 'Wait for a reply' }).check();
  await page.getByRole('combobox', { name: 'Whose answer ends the wait' }).selectOption({ label: 'from Me' });
  await box.fill('For how long?');
  await box.press('Enter');
  await expect(chat.getByText(/Waiting for Me until/)).toBeVisible();
  await expectAccessible(page, '.timeline');
  await page.getByLabel('Write as').selectOption({ label: 'Me (human)' });
  await chat.getByRole('article').last().hover();
  await chat.getByRole('article').last().getByRole('button', { name: 'Reply' }).click();
  await expect(page.getByText('Reply to Ada: For how long?')).toBeVisible();
  await box.fill('Five minutes');
  await box.press('Enter');
  await expect(chat.getByText('Resumed Ada')).toBeVisible();
  await expect(chat.getByText('To Ada: For how long?')).toBeVisible();
  await expect(chat.getByText(/Answered at/)).toBeVisible();

  // Goals, a memory and a plan of the agent.
  await page.getByRole('radio', { name: 'Agent', exact: true }).click();
  const mind = page.getByRole('region', { name: 'Agent', exact: true });
  await mind.getByRole('button', { name: 'Edit goals' }).click();
  await sheet(page).getByRole('button', { name: 'Add goal' }).click();
  await fill(page, 'Goal', 'No order twice');
  await fill(page, 'Priority', 'high');
  await send(page, 'Save goals');
  await expect(sheet(page).getByRole('alert')).toContainText('“high” is not a number.');
  await fill(page, 'Priority', '5');
  await send(page, 'Save goals');
  await expect(mind.getByRole('region', { name: 'Goals' })).toContainText('No order twice');
  await mind.getByRole('button', { name: 'New memory' }).click();
  await fill(page, 'Topic', 'queue');
  await fill(page, 'Memory', 'It hangs at the third try');
  await send(page, 'Save memory');
  await mind.getByRole('button', { name: 'Delete the memory queue' }).click();
  await expect(mind.getByText('It hangs at the third try')).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(mind.getByText('It hangs at the third try')).toBeVisible();
  await mind.getByRole('button', { name: 'New plan' }).click();
  await fill(page, 'Name', 'weekly');
  await fill(page, 'Instruction', 'Count the orders');
  await sheet(page).getByRole('combobox', { name: 'When' }).selectOption('cron');
  await fill(page, 'Cron expression', 'often');
  await send(page, 'Save plan');
  await expect(sheet(page).getByRole('alert')).toBeVisible();
  await fill(page, 'Cron expression', '0 9 * * 1');
  await send(page, 'Save plan');
  const plans = mind.getByRole('region', { name: 'Plans' });
  await expect(plans).toContainText('weekly');
  await plans.getByRole('button', { name: 'Delete the plan weekly' }).click();
  await expect(plans).not.toContainText('weekly');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(plans).toContainText('0 9 * * 1');
  await mind.getByRole('button', { name: 'Start by a service…' }).click();
  await fill(page, 'Service', 'build');
  await send(page, 'Start run');
  await expect(mind.getByRole('region', { name: 'Runs' }).getByRole('listitem')).toHaveCount(2);
  await expectAccessible(page, '.timeline');

  // A member joins and leaves.
  await page.getByRole('radio', { name: 'Members' }).click();
  const members = page.getByRole('region', { name: 'Members' });
  await members.getByRole('button', { name: 'Add a member…' }).click();
  await fill(page, 'Name', 'Calendar');
  await sheet(page).getByRole('combobox', { name: 'Kind' }).selectOption('service');
  await send(page, 'Add');
  await expect(members).toContainText('Calendar service');
  await members.getByRole('button', { name: 'Remove Calendar from the space' }).click();
  await expect(members).not.toContainText('Calendar');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(members).toContainText('Calendar');
  expect(met).toEqual([]);
});

test('[W64] a space opens at its first unread message, and counts for its own person', async ({ page, shared }) => {
  const { dir, call } = await agentsWindow(page, shared);
  const [me, sarah, ada] = await Promise.all(
    (['Me', 'Sarah', 'Ada'] as const).map((name) => call('space.addEntity', { name, type: name === 'Ada' ? 'agent' : 'human' })),
  );
  const [alpha, beta] = await Promise.all([
    call('space.create', { name: 'Alpha', members: [me?.entityId, ada?.entityId] }),
    call('space.create', { name: 'Beta', members: [sarah?.entityId, ada?.entityId] }),
  ]);
  const post = (space: typeof alpha, sender: typeof me, text: string) =>
    call('space.post', { spaceId: space.spaceId, senderId: sender?.entityId, text });
  await post(alpha, me, 'My own words');
  for (let number = 1; number <= 30; number++) await Promise.all([alpha, beta].map((space) => post(space, ada, `Answer ${number}`)));
  await page.goto(page.url().replace(/#.*/, `#/timeline?project=${encodeURIComponent(dir)}&space=${alpha.spaceId}`));
  await page.reload();
  const chat = page.getByRole('region', { name: 'Messages', exact: true });
  await expect(chat.getByText('Answer 1', { exact: true })).toBeInViewport();
  await expect(chat.getByText('New', { exact: true })).toBeInViewport();
  await expect(chat.getByText('Answer 30')).not.toBeInViewport();
  await expect(page.getByRole('navigation', { name: 'Spaces' }).getByRole('button', { name: /^Beta/ })).toContainText('30 messages');
  await expect(page.getByTitle('30 unread')).toBeVisible();
});

test('[W65][W67] a composition goes to a model, and a commit gets tags and a retention', { tag: '@long' }, async ({ page, machine }) => {
  const met = complaints(page);
  const server = await modelServer((response) => stream(response, messageEvents({ text: 'It was the time zone.' })));
  Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: server.url });
  const { url } = await machine.web(await giveProject(machine, 'Histories'));
  await page.goto(url);
  await page.getByRole('option', { name: /^Fix it, please/ }).click();
  await openAgents(page, 'Composition');
  await page.getByRole('button', { name: 'Edit Framework' }).click();
  await fill(page, 'Framework', 'Answer in one sentence.');
  await fill(page, 'Name of the block', 'Short');
  await send(page, 'Save block');
  await expect(sheet(page).getByRole('combobox', { name: 'Saved block' })).toHaveValue('Short');
  await expectAccessible(page, '.sheet');
  await send(page, 'Cancel');
  await page.getByRole('button', { name: 'Edit Framework' }).click();
  await sheet(page).getByRole('combobox', { name: 'Saved block' }).selectOption('Short');
  await send(page, 'Show the changes');
  await page.getByRole('textbox', { name: 'Query' }).fill('What was the cause?');
  await expect(page.getByText('Answer in one sentence.')).toBeVisible();
  await page.getByRole('button', { name: 'Send…' }).click();
  await send(page, 'Send');
  await expect(sheet(page).getByRole('alert')).toContainText('Provider is required.');
  await sheet(page).getByRole('combobox', { name: 'Provider' }).selectOption('anthropic');
  await expectAccessible(page, '.sheet');
  await send(page, 'Send');
  const reply = page.getByRole('region', { name: 'Reply of the model' });
  await expect(reply).toContainText('It was the time zone.');
  const body = JSON.stringify(server.asked.filter((asked) => asked.body.stream).at(-1)?.body);
  expect(body).toContain('Answer in one sentence.');
  expect(body.match(/What was the cause\?/g)).toHaveLength(1);
  await expectAccessible(page, '.compose');
  await reply.getByRole('button', { name: 'Open in Context' }).click();
  await expect(entries(page)).toContainText('It was the time zone.');

  // Tags, retention and the context of a moment, from the menu of the commit.
  const choose = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name }).click();
  };
  await choose('Tags…');
  await fill(page, 'Tags', 'cause, zone');
  await send(page, 'Save tags');
  await expect(page.getByRole('region', { name: 'Commit' })).toContainText('cause, zone');
  await choose('Keep its content…');
  await sheet(page).getByRole('combobox', { name: 'Keep it' }).selectOption('pin');
  await expectAccessible(page, '.sheet');
  await send(page, 'Save');
  await expect(page.getByText('The object is kept: always')).toBeVisible();
  await choose('Find a context by time…');
  await sheet(page).getByRole('combobox', { name: 'Principal' }).fill('nobody');
  await send(page, 'Open');
  await expect(sheet(page).getByRole('alert')).toContainText('nobody has no commit at or before');
  await send(page, 'Cancel');
  await choose('Summarize…');
  await send(page, 'Summarize');
  await expect(page.getByText(/^Summaries written: 1/)).toBeVisible();

  // The store is shrunk to a size.
  await place(page, 'Settings').click();
  await page.getByRole('navigation', { name: 'Pages of the settings' }).getByRole('link', { name: 'Storage', exact: true }).click();
  await page.getByRole('button', { name: 'Shrink to a size…' }).click();
  await fill(page, 'Size in megabytes', '500');
  await send(page, 'Shrink');
  await expect(page.getByText(/objects? removed,/)).toBeVisible();
  expect(met).toEqual([]);
});

test('[W66] a job asks, is answered and is stopped, and a rule allows what may start', { tag: '@long' }, async ({ page, machine }) => {
  const met = complaints(page);
  let calls = 0;
  // Other requests list the models. The second reply never ends.
  const server = await modelServer((response, { body }) => {
    if (!body.stream) return stream(response, []);
    calls += 1;
    if (calls === 1) stream(response, messageEvents({ tool: 'deploy', input: { command: 'make deploy' }, id: 'toolu_1' }));
    else stream(response, messageEvents({ text: 'Deployed, and now ' }).slice(0, 4), false);
  });
  Object.assign(machine.env, { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: server.url });
  const { call } = await agentsWindow(page, machine);
  await openAgents(page, 'Jobs');
  await expect(page.getByText('No jobs yet')).toBeVisible();
  await expectAccessible(page, '.jobs');
  await call('profile.put', { name: 'Ops', card: { content: { kind: 'json', data: { name: 'Ops', system_prompt_template: 'You deploy.' } } } });
  await call('handover.launchPrincipal', { profileName: 'Ops', instruction: 'Deploy the queue' });
  await openAgents(page, 'Handovers');
  await page.getByRole('option', { name: /Deploy the queue/ }).click();
  await page.getByRole('button', { name: 'Run here…' }).click();
  await sheet(page).getByRole('combobox', { name: 'Provider' }).selectOption('anthropic');
  await fill(page, 'Most model calls', '3');
  await sheet(page).getByRole('combobox', { name: 'Model', exact: true }).fill('m');
  await expectAccessible(page, '.sheet');
  await send(page, 'Run');

  // The question of the job, and its answer.
  const list = page.getByRole('navigation', { name: 'Jobs by state' });
  await expect(list.getByRole('region', { name: 'Needs an answer, 1 job' })).toContainText('Deploy the queue');
  const question = page.getByRole('region', { name: /asks$/ });
  await expect(question).toContainText('make deploy');
  await expectAccessible(page, '.jobs');
  await question.getByRole('textbox').fill('deployed at 10:42');
  await question.getByRole('button', { name: 'Send the result' }).click();
  await expect(list.getByRole('region', { name: 'Running, 1 job' })).toBeVisible();
  await expect.poll(() => server.asked.filter(({ body }) => body.stream).length).toBe(2);
  expect(JSON.stringify(server.asked.filter(({ body }) => body.stream).at(-1)?.body)).toContain('deployed at 10:42');
  const facts = page.getByRole('complementary', { name: 'Facts of the job' });
  await expect(facts.getByRole('meter', { name: /^Calls: \d of 3/ })).toBeVisible();

  // A reply shows while it is written.
  await expect(page.getByRole('log', { name: 'Stream' })).toContainText('Deployed, and');

  // Stop: the chain is valid, and the job leads to its turn.
  await facts.getByRole('button', { name: 'Stop' }).click();
  await expect(list.getByRole('region', { name: 'Ended, 1 job' })).toContainText('stopped');
  await facts.getByRole('button', { name: 'The turn' }).click();
  await expect(page.getByRole('complementary', { name: 'Handover' })).toContainText('Ops');

  // A rule is added, edited, removed and restored.
  await openAgents(page, 'Jobs');
  await page.getByRole('radio', { name: 'May start by itself' }).click();
  await page.getByRole('button', { name: 'Allow something to start' }).click();
  await sheet(page).getByRole('combobox', { name: 'Which one' }).fill('Ops');
  await sheet(page).getByRole('combobox', { name: 'Provider' }).selectOption('anthropic');
  await send(page, 'Allow');
  const rules = page.getByRole('list', { name: 'Rules' });
  await expect(rules).toContainText('Ops');
  await rules.getByRole('button', { name: 'Edit the rule for Ops' }).click();
  await fill(page, 'Most minutes', '5');
  await send(page, 'Save');
  await expect(rules).toContainText('5 minutes');
  await expectAccessible(page, '.jobs');
  await rules.getByRole('button', { name: 'Remove the rule for Ops' }).click();
  await expect(page.getByText('Nothing starts by itself')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(rules).toContainText('5 minutes');
  expect(met).toEqual([]);
});
