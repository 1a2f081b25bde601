import { safeStorage } from 'electron';
import { attempt } from '../../core/base/index.js';
import { thisSystem } from '../../core/system/index.js';
import type { FromEngine, ToEngine } from '../launch/index.js';

/** Without a keyring, Chromium would encrypt with a publicly known password, which protects nothing. */
function problem(): string | undefined {
  const isOpen = thisSystem === 'linux' && ['basic_text', 'unknown'].includes(safeStorage.getSelectedStorageBackend());
  return safeStorage.isEncryptionAvailable() && !isOpen
    ? undefined
    : 'The operating system cannot store secrets here because no keyring is open. Set ANTHROPIC_API_KEY, GEMINI_API_KEY, or OPENAI_API_KEY (and OPENAI_BASE_URL), in the environment instead';
}

/** Seals or opens a secret for the engine, with the keys of the logged-in person. */
export function vaultAnswer({ number, act, text }: Extract<FromEngine, { kind: 'vault' }>): ToEngine {
  const missing = problem();
  if (missing !== undefined) return { kind: 'vault', number, problem: missing };
  const answer = attempt(() =>
    act === 'seal' ? safeStorage.encryptString(text).toString('base64') : safeStorage.decryptString(Buffer.from(text, 'base64')),
  );
  if (answer !== undefined) return { kind: 'vault', number, text: answer };
  return { kind: 'vault', number, problem: 'The operating system can no longer open this key. Enter it again in the settings' };
}
