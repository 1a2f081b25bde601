import { describe, expect, test } from 'vitest';
import { checkpoint, graph, outlineRows } from '../../../src/core/chain/index.js';
import { type PromptFields, promptAt } from '../../../src/core/formats/index.js';
import { listTurns, rerunTurn, turnOf } from '../../../src/core/turns/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';
import { drained, scripted } from '../../support/scripted-model.js';

/** A turn that was left by `/exit` and resumed, as Claude Code records it: one commit from the command to the answer. */
const leftAndResumed =
  prompt('c1', '<command-name>/exit</command-name>\n<command-message>exit</command-message>\n<command-args></command-args>') +
  prompt('c2', '<local-command-stdout>Bye!</local-command-stdout>', { parent: 'c1' }) +
  answer('s1', 'No response requested.', { parent: 'c2' }).replace('"model":"m"', '"model":"<synthetic>"') +
  prompt('p1', 'now fix the retry', { parent: 's1' }) +
  answer('a1', 'fixed', { parent: 'p1' });

const user = (head: string): PromptFields => ({ role: 'user', kind: 'text', head });
const reply: PromptFields = { role: 'assistant', kind: 'text', head: 'done' };

describe('the prompt of a turn', () => {
  test('[W32] reminders, the environment and command output are no prompt', () => {
    expect(promptAt([user('<system-reminder>'), user('fix it'), reply])).toBe(1);
    expect(promptAt([user('# AGENTS.md instructions for /x'), user('<environment_context>'), user('fix it')])).toBe(2);
    expect(promptAt([user('[Request interrupted by user]'), user('go on'), reply])).toBe(1);
    expect(promptAt([reply, { role: 'tool', kind: 'tool_result' }])).toBeUndefined();
    expect(
      promptAt([
        { ...user('never sent'), hidden: true },
        { role: 'user', kind: 'image' },
      ]),
    ).toBe(1);
  });

  test('[W32] a slash command is the prompt unless a typed one follows before the reply', () => {
    const command = user('<command-name>/review</command-name>');
    expect(promptAt([command, reply, user('and now this')])).toBe(0);
    expect(promptAt([command, user('<local-command-stdout>Bye!'), { ...reply, head: 'No response requested.' }, user('fix it'), reply])).toBe(3);
  });

  test('[W33] the input of a turn left by /exit and resumed ends with the prompt', async () => {
    const chain = emptyChain();
    const { id: turnId } = checkpoint(chain, {
      parent: null,
      type: 'delta',
      format: 'claude-code-v1',
      text: leftAndResumed,
      template: 'claude-code',
      checkpoint: 'turn_boundary',
    });
    const turn = turnOf(chain, turnId);
    expect(turn.input.keys.at(-1)).toBe('p1.0');
    expect(turn.output.map((entry) => entry.text)).toEqual(['fixed']);
    expect(turn.trigger.key).toBe('p1.0');
    expect(listTurns(chain, { id: turnId })[0]?.trigger.key).toBe('p1.0');
    expect(outlineRows(chain, { id: turnId }).rows.flatMap((row) => (row.prompt ? [row.key] : []))).toEqual(['p1.0']);
    const { result } = await drained(
      rerunTurn(chain, { turnId, provider: 'anthropic' }, [scripted('anthropic', [{ kind: 'text', delta: 'again' }])]),
    );
    const rows = outlineRows(chain, { id: result.commits[0] as typeof turnId }).rows;
    expect(rows.slice(-2).map((row) => row.head)).toEqual(['now fix the retry', 'again']);
  });
});

describe('a rerun of the recording', () => {
  const turnId = (chain: ReturnType<typeof emptyChain>) =>
    checkpoint(chain, {
      parent: null,
      type: 'delta',
      format: 'claude-code-v1',
      text: prompt('p', 'fix it') + answer('a', 'done', { parent: 'p' }),
      template: 'claude-code',
      checkpoint: 'turn_boundary',
    }).id;

  test('[W34] shows the reply and leaves no commit unless it is kept', async () => {
    const chain = emptyChain();
    const id = turnId(chain);
    const count = () => graph(chain, { offset: 0, limit: 50 }).total;
    const shown = await drained(rerunTurn(chain, { turnId: id, provider: 'recorded', keep: false }, []));
    expect(shown.result).toEqual({ commits: [], base: id });
    expect(shown.parts.map((part) => part.delta).join('')).toContain('done');
    expect(count()).toBe(1);
    const kept = await drained(rerunTurn(chain, { turnId: id, provider: 'recorded' }, []));
    expect(kept.result.commits).toHaveLength(1);
    expect(count()).toBeGreaterThan(1);
  });

  test('[W34] keep: false is refused for a model', async () => {
    const chain = emptyChain();
    const run = rerunTurn(chain, { turnId: turnId(chain), provider: 'anthropic', keep: false }, [
      scripted('anthropic', [{ kind: 'text', delta: 'x' }]),
    ]);
    await expect(drained(run)).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { field: 'keep' } });
  });
});
