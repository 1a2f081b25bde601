import type { Chain } from '../chain/index.js';
import { settingsOf } from './settings.js';

/**
 * The windows of models in tokens, as their providers stated them on 20 November 2026. The first match counts. Claude Code marks the long
 * window by `[1m]` in the name.
 */
const limits: readonly (readonly [RegExp, number])[] = [
  [/\[1m\]/i, 1_000_000],
  [/^(.*\/)?claude-/i, 200_000],
  [/gpt-4\.1/i, 1_047_576],
  [/gpt-4o/i, 128_000],
  [/gpt-5.*codex|codex-/i, 272_000],
  [/gpt-5/i, 272_000],
  [/(^|\/)o[134](-|$)/i, 200_000],
  [/gemini-(1\.5-pro)/i, 2_097_152],
  [/gemini/i, 1_048_576],
  [/deepseek/i, 128_000],
  [/kimi-k2/i, 262_144],
  [/grok-4/i, 256_000],
  [/qwen3-coder/i, 262_144],
];

/** The window of a model. Null for an unknown model. A counted input above the window proves the window wrong, so it is null then, too. */
export function limitOf(chain: Chain, model: string | null, counted: number | null = null): number | null {
  if (model === null) return null;
  const limit = settingsOf(chain).modelOf(model)?.limit ?? limits.find(([pattern]) => pattern.test(model))?.[1] ?? null;
  return limit !== null && counted !== null && counted > limit ? null : limit;
}
