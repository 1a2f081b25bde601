import './page.js';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import type { UsageContext } from '../../src/core/contract/index.js';
import { Estimate, TokenLegend, Window } from '../../src/renderer/parts/index.js';
import { shortPaths } from '../../src/renderer/parts/repository.js';
import { scaleOf } from '../../src/renderer/parts/TokenBar.js';
import { figuresOf } from '../../src/renderer/views/inspector/ForkFacts.js';
import { Shares } from '../../src/renderer/views/request/CallBody.js';

const counted: UsageContext = {
  counted: 1_000,
  estimated: 600,
  limit: 2_000,
  model: 'm',
  parts: [{ kind: 'user', tokens: 600, basis: 'calibrated' }],
  notRecorded: 400,
};
const titlesIn = (html: string): string[] => Array.from(html.matchAll(/title="([^"]*)"/g), ([, title = '']) => title);

test('[N15] each number of tokens says on hover how it is known', () => {
  const basis = /^(Counted by the provider|Estimated)/;
  for (const usage of [counted, undefined, { ...counted, counted: null, notRecorded: null }]) {
    const titles = titlesIn(
      renderToStaticMarkup(
        <>
          <Window usage={usage} estimate={500} />
          <Window usage={usage} estimate={500} big />
          <TokenLegend rows={[]} usage={usage} />
          <Estimate of={1_234} />
        </>,
      ),
    );
    expect(titles.length).toBeGreaterThanOrEqual(3);
    for (const title of titles) expect(title).toMatch(basis);
  }
});

test('[N15] shares of a request say on hover what is estimated and what is not recorded', () => {
  const html = renderToStaticMarkup(
    <Shares
      shares={[
        ['System', 1_234, 'system'],
        ['Tools', null, 'tool'],
        ['Messages', 0, 'user'],
      ]}
    />,
  );
  expect(titlesIn(html)).toEqual(['Estimated from the length of the text: about 1,234 tokens', 'Not recorded in the request']);
});

test('[N15] a compaction shows the count of the call after it, and no share is above 100 %', () => {
  const text = (usage: UsageContext, big: boolean): string =>
    renderToStaticMarkup(<Window usage={usage} estimate={2_430} big={big} />).replace(/<[^>]*>/g, '');
  const compaction = { ...counted, counted: null, notRecorded: null, next: { counted: 49_386, requestId: 'r' }, limit: 200_000 };
  const edited = { ...counted, counted: null, estimated: 3_000, since: { counted: 1_000, edited: 2_000 } };
  expect(text(compaction, false)).toBe('49,386 counted, 25% of 200,000');
  expect(text(compaction, true)).toBe('49,386 tokens, counted, 25% of the 200,000 of m');
  expect(text(edited, true)).toBe('≈ 3,000 tokens, 1,000 counted ≈ +2,000, more than 2,000');
});

test('[N15] no number is shown until the count arrives', () => {
  const html = renderToStaticMarkup(<Window usage="loading" estimate={500} big />) + renderToStaticMarkup(<TokenLegend rows={[]} usage="loading" />);
  expect(html).toContain('Counting tokens…');
  expect(html).not.toMatch(/\d/);
});

test('[N14] a long path is cut to its end', () => {
  expect(shortPaths('edit packages/agent/src/core/session.ts')).toBe('edit …/core/session.ts');
  expect(shortPaths('read src/a.ts from https://example.com/a/b/c')).toBe('read src/a.ts from https://example.com/a/b/c');
});

test('[N15] the panel of a fork starts from what was counted before, also in an edited context', () => {
  const since = { counted: 13_120, edited: 15 };
  const fork = { kept: 500, leaving: 1_300 };
  const limit = 200_000;
  expect(figuresOf({ counted: 13_120, estimated: 1_800, limit }, { estimated: 10_338, since }, fork)).toMatchObject({
    before: 13_120,
    after: 10_338,
  });
  // An edited context has no count of its own: its figure starts from the count before the edit, never from the entries alone.
  expect(figuresOf({ counted: null, estimated: 13_135, limit, since }, { estimated: 10_353, since }, fork)).toEqual({
    ...{ before: 13_135, after: 10_353, whole: limit, since },
  });
  // Nothing was counted: the entries are all that is known, and no gauge is longer than its whole.
  expect(figuresOf({ counted: null, estimated: 1_800, limit: null }, undefined, fork)).toEqual({
    before: 1_800,
    after: 500,
    whole: 1_800,
    since: undefined,
  });
  expect(figuresOf(undefined, undefined, fork)).toMatchObject({ before: 1_800, after: 500 });
});

test('[N15] the shares of a legend are shares of one whole, counted or not', () => {
  const rows = [
    { kind: 'text', role: 'user', tokens: 300 },
    { kind: 'tool_result', role: 'tool', tokens: 500 },
    { kind: 'text', role: 'assistant', tokens: 200, hidden: true },
  ] as unknown as Parameters<typeof TokenLegend>[0]['rows'];
  const edited = { ...counted, counted: null, estimated: 1_015, since: { counted: 1_000, edited: 15 } };
  for (const usage of [undefined, counted, edited, { ...counted, counted: null, notRecorded: null }]) {
    const html = renderToStaticMarkup(<TokenLegend rows={rows} {...(usage && { usage })} />);
    const shares = Array.from(html.matchAll(/>(\d+)%</g), ([, share]) => Number(share));
    expect(shares.length).toBeGreaterThanOrEqual(2);
    expect(Math.max(...shares)).toBeLessThanOrEqual(100);
    expect(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 100)).toBeLessThanOrEqual(1);
    const { unrecorded, entries } = scaleOf(usage);
    expect(unrecorded + entries).toBeLessThanOrEqual(1.000001);
    expect(unrecorded).toBeGreaterThanOrEqual(0);
  }
});
