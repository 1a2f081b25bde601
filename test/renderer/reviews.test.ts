import './page.js';
import { describe, expect, test } from 'vitest';
import type { TicketVersion } from '../../src/core/contract/index.js';
import { changeWords, moveName, whyNotClosed } from '../../src/renderer/views/reviews/words.js';

const version = (changes: TicketVersion['changes'], by: string | null = '@author'): TicketVersion => ({
  at: '2026-01-01T00:00:00.000Z' as TicketVersion['at'],
  by,
  changes,
  contextId: null,
  contextFound: null,
  known: false,
});

describe('the changes of a ticket version', () => {
  test('are listed by field, without the context', () => {
    const changes = {
      status: { from: 'open', to: 'in_progress' },
      assignee: { from: null, to: '@author' },
      labels: { from: [], to: ['queue', 'slow'] },
      contextId: { from: null, to: 'ctx-12345678' },
    };
    expect(changeWords(version(changes), false)).toEqual(['Open → In progress', 'Assigned to @author', 'labels: queue, slow']);
    expect(changeWords(version(changes), true)).toEqual(['Created the ticket']);
    expect(changeWords(version({ resolution: { from: 'done', to: null } }), false)).toEqual(['Removed the resolution']);
  });

  test('name a reviewer whose verdict another person recorded, and new reviewers', () => {
    const reviewers = (verdict: string) => [
      { name: '@rev', verdict },
      { name: '@second', verdict: 'pending' },
    ];
    const given = { reviewers: { from: reviewers('pending'), to: reviewers('changes_requested') } };
    expect(changeWords(version(given, '@rev'), false)).toEqual(['asks for changes']);
    expect(changeWords(version(given, '@pm'), false)).toEqual(['@rev: asks for changes']);
    expect(changeWords(version({ reviewers: { from: [], to: reviewers('pending') } }), false)).toEqual(['Reviewers: @rev, @second']);
  });
});

test('[K3] the reasons against closing are named, in review and after it', () => {
  const reviewers = [{ name: '@rev', verdict: 'approved' as const }];
  expect(whyNotClosed({ reviewers, findings: { open: 0, total: 2 } })).toEqual([]);
  expect(whyNotClosed({ reviewers: [...reviewers, { name: '@second', verdict: 'commented' }], findings: { open: 1, total: 2 } })).toEqual([
    '1 finding is open',
    '@second has not approved',
  ]);
  expect([moveName('closed', 'open'), moveName('review', 'in_progress')]).toEqual(['Open again', 'Back to work']);
});
