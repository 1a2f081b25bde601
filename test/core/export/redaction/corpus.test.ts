import { beforeAll, describe, expect, test } from 'vitest';
import { commandNames, issuers, notationNames, shapeNames } from '../../../../src/core/export/redact/rules/index.js';
import { textAt } from '../../../support/source.js';
import { type Figures, measure } from './corpus.js';
import { negatives } from './negatives.js';
import { knownMisses, positives } from './positives.js';

const minRecall = 0.98;
const maxFalseShare = 0.01;
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

describe('[T60] the corpus of redaction', () => {
  let figures: Figures;
  beforeAll(async () => {
    figures = await measure();
  });
  const recall = (): number => 1 - figures.missed.length / figures.positives;
  const falsePositives = (): number => figures.changed.length / figures.negatives;

  test('has at least 120 handwritten texts with secrets and 120 without', () => {
    expect(positives.length).toBeGreaterThanOrEqual(120);
    expect(negatives.length).toBeGreaterThanOrEqual(120);
  });

  test('at least 98 % of the texts with secrets are free of them afterwards', () => {
    expect(recall(), figures.missed.join('\n')).toBeGreaterThanOrEqual(minRecall);
  });

  test('misses nothing but what is listed as a known miss', () => {
    expect(figures.missed.toSorted()).toEqual(knownMisses.map(({ name }) => name).toSorted());
  });

  test('at most 1 % of the texts without secrets change', () => {
    expect(falsePositives(), figures.changed.join('\n')).toBeLessThanOrEqual(maxFalseShare);
  });

  test('docs/redaction.md has these figures, every issuer, shape, command and known miss', () => {
    const page = textAt('docs/redaction.md');
    const published = [
      `${figures.positives - figures.missed.length} of ${figures.positives} texts with secrets (${percent(recall())})`,
      `${figures.changed.length} of ${figures.negatives} texts without secrets (${percent(falsePositives())})`,
    ];
    const names = [
      ...issuers.map(({ name }) => name),
      ...shapeNames,
      ...commandNames,
      ...notationNames,
      ...knownMisses.map(({ name }) => name.replace('known miss: ', '')),
    ];
    expect([...published, ...names].filter((text) => !page.includes(text))).toEqual([]);
  });
});
