import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { ContextId } from '../../../src/core/contract/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { expect, test } from '../../support/e2e.js';
import type { Machine } from '../../support/machine.js';
import { transcript } from '../../support/transcript.js';
import { entries, view } from '../../support/window.js';

/** Most pixels between the top of the view and the prompt. */
const allowed = 8;

interface Place {
  readonly commit: ContextId;
  readonly prompt: string;
  readonly words: string;
}

/** A long session: turns with results and replies of very different heights, so that estimates of heights are wrong. */
function longSession(turns: number): string {
  const paragraph = (n: number) => Array.from({ length: n }, (_, at) => `Paragraph ${at}: ${'words '.repeat(30)}`).join('\n\n');
  const session = '11111111-1111-4111-8111-111111111111';
  let parent: string | null = null;
  let text = '';
  const add = (line: string, uuid: string): void => {
    text += line.replaceAll('"sessionId":"s1"', `"sessionId":"${session}"`);
    parent = uuid;
  };
  for (let turn = 0; turn < turns; turn++) {
    add(prompt(`p${turn}`, `Prompt number ${turn}. ${'Please. '.repeat((turn * 37) % 90)}`, { parent }), `p${turn}`);
    if (turn % 3 === 0)
      add(prompt(`m${turn}`, '<system-reminder>Nobody typed this.</system-reminder>', { parent, extra: { isMeta: true } }), `m${turn}`);
    for (let n = 0; n < turn % 4; n++) {
      add(call(`c${turn}-${n}`, `t${turn}-${n}`, 'Bash', { command: `echo ${n}` }, { parent }), `c${turn}-${n}`);
      add(result(`r${turn}-${n}`, `t${turn}-${n}`, paragraph((turn * 13 + n) % 17), { parent }), `r${turn}-${n}`);
    }
    add(
      answer(`a${turn}`, `# Answer ${turn}\n\n\`\`\`ts\n${'const x = 1;\n'.repeat((turn * 11) % 40)}\`\`\`\n\n${paragraph((turn * 7) % 9)}`, {
        parent,
      }),
      `a${turn}`,
    );
  }
  return text;
}

/** The answer of the engine. */
async function ask<T>(machine: Machine, project: string, procedure: string, input: unknown): Promise<T> {
  const { code, out, err } = await machine.ask('call', procedure, '--project', project, '--input', JSON.stringify(input));
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as T;
}

/** The prompts of every commit, by the engine's own list of turns. */
async function promptsOf(machine: Machine, project: string): Promise<Place[]> {
  const tips = await ask<{ id: ContextId }[]>(machine, project, 'context.tips', {});
  const places = new Map<ContextId, Place>();
  for (const { id } of tips) {
    const turns = await ask<{ turnId: ContextId; trigger: { kind: string; key: string | null; text: string | null } }[]>(
      machine,
      project,
      'turn.list',
      {
        id,
      },
    );
    for (const { turnId, trigger } of turns)
      if (trigger.kind === 'prompt' && trigger.key) places.set(turnId, { commit: turnId, prompt: trigger.key, words: trigger.text ?? '' });
  }
  return [...places.values()];
}

/** Waits until the list has neither moved nor grown for some frames. */
const calm = (page: Page): Promise<void> =>
  entries(page).evaluate(
    (list) =>
      new Promise<void>((resolve) => {
        let last = '';
        let same = 0;
        const look = (): void => {
          const now = `${list.scrollTop} ${list.scrollHeight}`;
          same = now === last ? same + 1 : 0;
          last = now;
          if (same >= 8) resolve();
          else requestAnimationFrame(look);
        };
        look();
      }),
  );

test('[W32] Context opens every turn at its prompt, in the sample and in a long session', { tag: '@long' }, async ({ page, machine }) => {
  // A folder of real transcripts takes a second a turn.
  if (process.env.STEMMA_LANDING) test.setTimeout(3_600_000);
  const folder = join(machine.claude, 'projects', '-work-long');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '11111111-1111-4111-8111-111111111111.jsonl'), longSession(18));
  const project = machine.path('landing.stemma');
  const created = await machine.ask('call', 'project.create', '--input', JSON.stringify({ dir: project }));
  expect(created.code, created.err).toBe(0);
  const sources = [folder, machine.giveHistory(), ...(process.env.STEMMA_LANDING ? [process.env.STEMMA_LANDING] : [])];
  for (const source of sources) expect((await machine.ask('import', source, '--project', project)).code).toBe(0);
  const places = await promptsOf(machine, project);
  expect(places.length).toBeGreaterThan(25);

  const { url } = await machine.web(project);
  await page.goto(url);
  await expect(page.getByRole('navigation').first()).toBeVisible();
  const off: string[] = [];
  for (const { commit, prompt: key, words } of places) {
    await page.evaluate(
      ([dir, id]) => {
        location.hash = `#/context?project=${encodeURIComponent(dir as string)}&commit=${id}`;
      },
      [project, commit],
    );
    const block = page.locator(`[data-entry="${key}"]`);
    await expect(block, `${commit} ${words}`).toBeVisible();
    const distance = () =>
      entries(page).evaluate((list, wanted) => {
        const entry = list.querySelector(`[data-entry="${wanted}"] article`);
        return entry ? Math.abs(Math.round(entry.getBoundingClientRect().top - list.getBoundingClientRect().top)) : 9_999;
      }, key);
    await expect
      .poll(distance, { message: `${commit} ${words}` })
      .toBeLessThanOrEqual(allowed)
      .catch(() => {});
    // It must also stay there after everything around it is drawn.
    await expect(entries(page)).toHaveAttribute('aria-busy', 'false');
    await calm(page);
    const px = await distance();
    if (px > allowed) off.push(`${commit} ${px} px: ${words.slice(0, 60)}`);
  }
  expect(off).toEqual([]);
});

test('[W53] a long context shows its last prompt first, and stays in place when the rest arrives', { tag: '@long' }, async ({ page, machine }) => {
  const file = machine.path('work', 'long.jsonl');
  writeFileSync(
    file,
    transcript(
      'long',
      Array.from({ length: 330 }, (_, turn) => ({
        prompt: `Question ${turn}`,
        answers: [`Answer ${turn}. ${'Some words. '.repeat((turn * 37) % 300)}`],
      })),
    ),
  );
  const project = machine.path('long.stemma');
  expect((await machine.ask('call', 'project.create', '--input', JSON.stringify({ dir: project }))).code).toBe(0);
  expect((await machine.ask('import', file, '--project', project)).code).toBe(0);
  const [tip] = await ask<{ id: ContextId }[]>(machine, project, 'context.tips', {});

  // The answer with all entries is held until the test lets it go.
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.routeWebSocket('**/rpc', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage(async (message) => {
      const text = message.toString();
      if (text.includes('/context/outline') && !text.includes('"near"')) await released;
      server.send(message);
    });
  });
  const { url } = await machine.web(project);
  await page.goto(url);
  await expect(page.getByRole('navigation').first()).toBeVisible();
  await page.evaluate(
    (hash) => {
      location.hash = hash;
    },
    `#/context?${new URLSearchParams({ project, commit: tip?.id ?? '' })}`,
  );
  await expect(view(page).getByText('Loading the earlier entries')).toBeVisible();
  await expect(entries(page).getByText('Question 329', { exact: true })).toBeInViewport();
  await calm(page);

  await entries(page).hover();
  await page.mouse.wheel(0, -900);
  await expect(entries(page).getByText('Question 329', { exact: true })).not.toBeInViewport();
  await calm(page);
  const shown = await firstInView(page);
  release();
  await expect(view(page).getByText('660 entries')).toBeVisible();
  await calm(page);
  const kept = await firstInView(page);
  expect(kept.key).toBe(shown.key);
  expect(Math.abs(kept.top - shown.top)).toBeLessThanOrEqual(2);
});

/** The first entry in view, and how far its top is from that of the list. */
const firstInView = (page: Page): Promise<{ readonly key: string | null; readonly top: number }> =>
  entries(page).evaluate((list) => {
    const top = list.getBoundingClientRect().top;
    const block = [...list.querySelectorAll('[data-entry]')].find((each) => each.getBoundingClientRect().bottom > top);
    return { key: block?.getAttribute('data-entry') ?? null, top: Math.round((block?.getBoundingClientRect().top ?? 0) - top) };
  });
