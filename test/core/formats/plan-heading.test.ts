import { expect, test } from 'vitest';
import { importableFormats, planHeading } from '../../../src/core/formats/index.js';
import { prompt } from '../../support/claude-lines.js';

test('[W4] a prompt with a plan is named by the heading of the plan, before its import too', () => {
  expect(planHeading('Implement the following plan:\n\n# Plan: Retry twice\n\nText')).toBe('Retry twice');
  expect(planHeading('Implement the following plan:\n\nRetry twice')).toBe('Retry twice');
  expect(planHeading('Implement the following plan:')).toBeUndefined();
  expect(planHeading('Fix it.\n# Heading')).toBeUndefined();
  const bytes = new TextEncoder().encode(prompt('u1', 'Implement the following plan:\n\n# Retry twice\n\nText'));
  expect(importableFormats.find(({ id }) => id === 'claude-code-v1')?.peek(bytes, bytes).firstPrompt).toBe('Retry twice');
});
