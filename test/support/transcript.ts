import { createHash } from 'node:crypto';

/** Generates a Claude Code session from prompts and answers. */
export interface Turn {
  prompt: string;
  /** Texts of the answer, one line each. */
  answers: readonly string[];
}

const uuidOf = (name: string): string => {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** The lines of a session, each with a newline. The same name and turns give the same lines. */
export function transcript(name: string, turns: readonly Turn[]): string {
  const sessionId = uuidOf(name);
  const begun = Date.parse('2026-03-01T09:00:00.000Z');
  let parentUuid: string | null = null;
  let count = 0;
  const line = (type: 'user' | 'assistant', message: object): string => {
    const uuid = uuidOf(`${name} ${count}`);
    const timestamp = new Date(begun + count++ * 1_000).toISOString();
    const record = {
      parentUuid,
      isSidechain: false,
      userType: 'external',
      cwd: '/home/sam/work',
      sessionId,
      version: '2.1.0',
      gitBranch: 'main',
      type,
      message,
      uuid,
      timestamp,
    };
    parentUuid = uuid;
    return `${JSON.stringify(record)}\n`;
  };
  return turns
    .flatMap(({ prompt, answers }) => [
      line('user', { role: 'user', content: prompt }),
      ...answers.map((text) =>
        line('assistant', {
          id: `msg_${count}`,
          type: 'message',
          role: 'assistant',
          model: 'claude-opus-4',
          content: [{ type: 'text', text }],
          stop_reason: 'end_turn',
          usage: { input_tokens: 10, output_tokens: 5 },
        }),
      ),
    ])
    .join('');
}
