import { describe, expect, test } from 'vitest';
import { terminalFor } from '../../src/main/engine/terminal.js';

describe('the terminal that continues a session', () => {
  test('[W37] the terminal runs the command in a shell that stays open', () => {
    const env = { DISPLAY: ':0', PATH: '', TERMINAL: '/bin/sh', SHELL: '/bin/bash' };
    expect(terminalFor('claude --resume x', { env, platform: 'linux' })).toEqual({
      program: '/bin/sh',
      args: ['-e', '/bin/bash', '-c', expect.stringMatching(/^claude --resume x; exec .*SHELL/)],
    });
    expect(terminalFor('claude', { env: { ...env, DISPLAY: '' }, platform: 'linux' })).toBeUndefined();
    expect(terminalFor('echo "a\\b"', { env: {}, platform: 'darwin' })?.args[1]).toBe('tell application "Terminal" to do script "echo \\"a\\\\b\\""');
  });
});
