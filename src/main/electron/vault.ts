import { safeStorage } from 'electron';
import type { FromEngine, ToEngine } from '../launch/index.js';

/** Where there is no keyring, Chromium would seal with a password that everybody knows: that is no keeping. */
function problem(): string | undefined {
  const isOpen = process.platform === 'linux' && ['basic_text', 'unknown'].includes(safeStorage.getSelectedStorageBackend());
  return safeStorage.isEncryptionAvailable() && !isOpen
    ? undefined
    : 'the operating system keeps no secrets here (no keyring is open): set ANTHROPIC_API_KEY, GEMINI_API_KEY, or OPENAI_API_KEY (and OPENAI_BASE_URL), in the environment instead';
}

/** Seals and opens what the engine asks for, with the keys of the person who is logged in. */
export function vaultAnswer({ number, act, text }: Extract<FromEngine, { kind: 'vault' }>): ToEngine {
  const missing = problem();
  if (missing !== undefined) return { kind: 'vault', number, problem: missing };
  try {
    return {
      kind: 'vault',
      number,
      text: act === 'seal' ? safeStorage.encryptString(text).toString('base64') : safeStorage.decryptString(Buffer.from(text, 'base64')),
    };
  } catch {
    return { kind: 'vault', number, problem: 'the operating system cannot open this key any more: give it again in the settings' };
  }
}
