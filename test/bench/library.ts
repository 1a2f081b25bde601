import { chance, prose } from './material.js';

/** The size of a library: with 10 turns of 20 calls, a session has 200 calls and 600 entries. */
export const librarySize = { turns: 10, calls: 20 } as const;

const models = ['claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5'];
const branches = ['main', 'fix/queue', 'feature/search', 'release'];
const dayMs = 86_400_000;
const first = Date.UTC(2026, 0, 5);

const given = (next: () => number, folder: string): readonly [name: string, input: object] => {
  const path = `${folder}/src/part-${Math.floor(next() ** 2 * 40)}.ts`;
  const choice = next();
  if (choice < 0.45) return ['Read', { file_path: path }];
  if (choice < 0.65) return ['Edit', { file_path: path, old_string: prose(next, 60), new_string: prose(next, 60) }];
  if (choice < 0.85) return ['Bash', { command: `npm test -- part-${Math.floor(next() * 40)}` }];
  return choice < 0.95 ? ['Grep', { pattern: prose(next, 12), path: folder }] : ['Write', { file_path: path, content: prose(next, 200) }];
};

/**
 * The file of one of many sessions: of 40 repositories, 4 branches and 3 models, within half a year. Every reply thinks and calls a tool, except the
 * last of a turn, which answers. One result of 25 is an error. The counts grow as those of a cached conversation do.
 */
export function librarySession(number: number): string {
  const next = chance(number * 7_919 + 1);
  const folder = `/home/dev/repository-${number % 40}`;
  const session = `${String(number).padStart(8, '0')}-0000-4000-8000-000000000041`;
  const lines: string[] = [];
  let parent: string | null = null;
  let at = first + Math.floor(next() * 180) * dayMs + Math.floor(next() * 8 * 3_600_000);
  let tokens = 18_000;
  const line = (fields: object): void => {
    const uuid = `${session.slice(0, 8)}-${String(lines.length).padStart(4, '0')}-4000-8000-000000000000`;
    at += 1_500;
    const base = { parentUuid: parent, isSidechain: false, uuid, timestamp: new Date(at).toISOString(), cwd: folder, sessionId: session };
    lines.push(`${JSON.stringify({ ...base, version: '2.1.329', gitBranch: branches[number % 4], ...fields })}\n`);
    parent = uuid;
  };
  for (let turn = 0; turn < librarySize.turns; turn++) {
    // Some turns follow after the cache has expired.
    at += next() < 0.1 ? 4_000_000 : 40_000;
    const model = models[Math.floor(next() ** 2 * models.length)];
    line({ type: 'user', message: { role: 'user', content: prose(next, 120) } });
    for (let call = 0; call < librarySize.calls; call++) {
      const added = 200 + Math.floor(next() * 600);
      const usage = {
        input_tokens: 4,
        cache_read_input_tokens: tokens,
        cache_creation_input_tokens: added,
        output_tokens: 40 + Math.floor(next() * 200),
      };
      tokens += added;
      const id = `msg_${number}_${turn}_${call}`;
      const reply = (block: object): void =>
        line({ type: 'assistant', message: { id, type: 'message', role: 'assistant', model, content: [block], usage } });
      reply({ type: 'thinking', thinking: prose(next, 80), signature: 'c2lnbmF0dXJl' });
      if (call === librarySize.calls - 1) {
        reply({ type: 'text', text: prose(next, 160) });
        continue;
      }
      const [name, input] = given(next, folder);
      const toolId = `toolu_${number}_${turn}_${call}`;
      reply({ type: 'tool_use', id: toolId, name, input });
      const result = {
        tool_use_id: toolId,
        type: 'tool_result',
        content: prose(next, 60 + next() ** 4 * 600),
        ...(next() < 0.04 && { is_error: true }),
      };
      line({ type: 'user', message: { role: 'user', content: [result] } });
    }
  }
  return lines.join('');
}
