import { describe, expect, test } from 'vitest';
import type { EntryKey } from '../../../src/core/base/index.js';
import { checkpoint, fork } from '../../../src/core/chain/index.js';
import type { Edit } from '../../../src/core/contract/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';

const words = 'Retry with exponential backoff. Start at 500 ms and double it after every failed attempt.';

const turn = (chain: ReturnType<typeof emptyChain>) =>
  checkpoint(chain, {
    parent: null,
    type: 'delta',
    format: 'claude-code-v1',
    text:
      prompt('u1', words) +
      call('c1', 't1', 'Read', { file_path: 'src/queue/retry.ts' }, { parent: 'u1' }) +
      result('r1', 't1', 'const n = 1;', { parent: 'c1' }) +
      answer('a1', 'done', { parent: 'r1' }),
    template: 'claude-code',
    checkpoint: 'turn_boundary',
    summary: words,
  });

const user = (text: string) => ({ role: 'user' as const, kind: 'text' as const, text });
const edited = (text: string): Edit => ({ op: 'replace', key: 'u1.0' as EntryKey, entry: user(text) });

describe('the title of a fork', () => {
  const titleOf = (input: { at?: string; edits?: Edit[]; summary?: string }) => {
    const chain = emptyChain();
    const { id } = turn(chain);
    return fork(chain, { id, ...input, at: input.at as EntryKey | undefined }).summary;
  };

  test('[W35] an edited prompt is titled by the words that are new', () => {
    const now = words.replace('backoff.', 'backoff and full jitter.').replace('attempt.', 'attempt, and renew the lease.');
    expect(titleOf({ at: 'u1.0', edits: [edited(now)] })).toBe('Edited: and full jitter. … and renew the lease.');
    expect(titleOf({ at: 'u1.0', edits: [edited(words.replace(' Start at 500 ms and', ''))] })).toBe('Edited: without “Start at 500 ms and”');
  });

  test('[W35] a new prompt is its own title', () => {
    expect(titleOf({ at: 'u1.0', edits: [edited('Do not retry at all.\nFail fast.')] })).toBe('Do not retry at all.');
    expect(titleOf({ edits: [{ op: 'append', entry: user('And now the tests.') }] })).toBe('And now the tests.');
  });

  test('[W35] a cut is titled by the entry after which it is, removals by what they remove', () => {
    expect(titleOf({ at: 'c1.0' })).toBe('Fork after Read src/queue/retry.ts');
    expect(
      titleOf({
        at: 'r1.0',
        edits: [
          { op: 'drop', key: 'c1.0' as EntryKey },
          { op: 'drop', key: 'r1.0' as EntryKey },
        ],
      }),
    ).toBe('2 entries removed');
  });

  test('[W35] a given title is kept', () => {
    expect(titleOf({ at: 'u1.0', edits: [edited('x')], summary: 'full-jitter' })).toBe('full-jitter');
  });
});
