import { randomUUID } from 'node:crypto';

/** A repeatable source of chance: the same seed gives the same material. */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

const words =
  'the queue retries a job twice before it gives up and says why so a test that waits for the third attempt hangs until its timeout which hides the cause from who reads the log file parser commit branch context window delta parent child summary token model agent prompt result error line column value index buffer stream socket handle close open read write import export function return const let await async class type interface'.split(
    ' ',
  );

export function prose(next: () => number, length: number): string {
  let text = '';
  while (text.length < length) text += `${words[Math.floor(next() * words.length)]}${next() < 0.08 ? '.\n' : ' '}`;
  return text.slice(0, length);
}

export interface Turn {
  readonly text: string;
  /** The uuid of the turn's last line, which the next turn's first goes on from. */
  readonly last: string;
}

/** One turn of a Claude Code session, about 3.3 KB: prompt, thinking, tool call, result, answer. */
export function turn(next: () => number, parent: string | null, at: number, number: number, resultLength = 640): Turn {
  const id = () => randomUUID();
  let before = parent;
  const line = (fields: object, seconds: number): string => {
    const uuid = id();
    const whole = {
      parentUuid: before,
      isSidechain: false,
      ...fields,
      uuid,
      timestamp: new Date(at + seconds * 1_000).toISOString(),
      userType: 'external',
      cwd: '/home/dev/app',
      sessionId: 'bench',
      version: '2.1.329',
      gitBranch: 'main',
    };
    before = uuid;
    return `${JSON.stringify(whole)}\n`;
  };
  const assistant = (block: object, seconds: number): string =>
    line(
      {
        type: 'assistant',
        message: {
          id: `msg_${number}`,
          type: 'message',
          role: 'assistant',
          model: 'bench',
          content: [block],
          usage: { input_tokens: 10, output_tokens: 90 },
        },
      },
      seconds,
    );
  const call = `toolu_${number}`;
  const text = [
    line({ type: 'user', message: { role: 'user', content: prose(next, 160) } }, 0),
    assistant({ type: 'thinking', thinking: prose(next, 240), signature: 'c2lnbmF0dXJl' }, 3),
    assistant({ type: 'tool_use', id: call, name: 'Read', input: { file_path: `/home/dev/app/src/${number}.ts` } }, 5),
    line({ type: 'user', message: { role: 'user', content: [{ tool_use_id: call, type: 'tool_result', content: prose(next, resultLength) }] } }, 6),
    assistant({ type: 'text', text: prose(next, 420) }, 11),
  ].join('');
  return { text, last: before ?? '' };
}

/** Turns that go on from each other, oldest first. */
export function turns(count: number, seed = 1): string[] {
  const next = chance(seed);
  const all: string[] = [];
  let parent: string | null = null;
  for (let number = 0; number < count; number++) {
    const made: Turn = turn(next, parent, Date.UTC(2026, 0, 5) + number * 60_000, number);
    all.push(made.text);
    parent = made.last;
  }
  return all;
}

/** A session file of about so many bytes: turns as real ones are, some with a large tool result. */
export function sessionFile(bytes: number, seed: number): string {
  const next = chance(seed);
  const parts: string[] = [];
  let parent: string | null = null;
  for (let size = 0, number = 0; size < bytes; number++) {
    const made: Turn = turn(next, parent, Date.UTC(2026, 1, 3) + number * 60_000, number, next() < 0.3 ? 12_000 * next() : 640);
    parts.push(made.text);
    size += made.text.length;
    parent = made.last;
  }
  return parts.join('');
}
