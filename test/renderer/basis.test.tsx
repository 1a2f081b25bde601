import './page.js';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import type { UsageContext } from '../../src/core/contract/index.js';
import { Estimate, TokenLegend, Window } from '../../src/renderer/parts/index.js';
import { shortPaths } from '../../src/renderer/parts/repository.js';
import { Shares } from '../../src/renderer/views/request/Shares.js';

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

test('[N15] no number is shown until the count arrives', () => {
  const html = renderToStaticMarkup(<Window usage="loading" estimate={500} big />) + renderToStaticMarkup(<TokenLegend rows={[]} usage="loading" />);
  expect(html).toContain('Counting tokens…');
  expect(html).not.toMatch(/\d/);
});

test('[N14] a long path is cut to its end', () => {
  expect(shortPaths('edit packages/agent/src/core/session.ts')).toBe('edit …/core/session.ts');
  expect(shortPaths('read src/a.ts from https://example.com/a/b/c')).toBe('read src/a.ts from https://example.com/a/b/c');
});
