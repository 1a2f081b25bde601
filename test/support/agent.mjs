// An agent as far as its files go: writes a session of Claude Code for its working directory, turn by turn, as told by its arguments:
// `turn`, `call` (asks the model that its environment names, and says what came), `open` (a turn that goes on), `left` (what the real one writes last), `wait` (until a line comes), `hang`, `exit:N`.
import { appendFileSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const session = '5e551011-1111-4111-8111-111111111111';
const cwd = process.cwd();
const folder = join(process.env.CLAUDE_CONFIG_DIR ?? join(homedir(), '.claude'), 'projects', cwd.replace(/[^a-zA-Z0-9]/g, '-'));
mkdirSync(folder, { recursive: true });
const file = join(folder, `${session}.jsonl`);

let last = null;
let turns = 0;
const write = (type, uuid, message) => {
  const timestamp = new Date().toISOString();
  appendFileSync(
    file,
    `${JSON.stringify({ parentUuid: last, isSidechain: false, cwd, sessionId: session, version: '2.1.329', type, message, uuid, timestamp })}\n`,
  );
  last = uuid;
};
const say = (uuid, content, stop_reason) =>
  write('assistant', uuid, { id: `msg_${uuid}`, role: 'assistant', type: 'message', model: 'm', stop_reason, content });

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const steps = {
  turn: () => {
    turns += 1;
    write('user', `u${turns}`, { role: 'user', content: `question ${turns}` });
    say(`a${turns}`, [{ type: 'text', text: `answer ${turns}` }], 'end_turn');
  },
  open: () => {
    turns += 1;
    write('user', `u${turns}`, { role: 'user', content: `question ${turns}` });
    say(`c${turns}`, [{ type: 'tool_use', id: `t${turns}`, name: 'Bash', input: { command: 'sleep 100' } }], 'tool_use');
  },
  call: async () => {
    const { ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: key } = process.env;
    const body = JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: `question ${turns}, with ${key}` }] });
    const answer = await fetch(`${base}/v1/messages`, { method: 'POST', headers: { 'x-api-key': key, 'content-type': 'application/json' }, body });
    process.stdout.write(`${answer.status} ${await answer.text()}\n`);
  },
  left: () => appendFileSync(file, `{"type":"cost-state","sessionId":"${session}"}\n`),
  wait: async () => process.stdout.write(`heard ${(await lines.next()).value}\n`),
  hang: () => new Promise((resume) => setTimeout(resume, 1_000_000)),
};
for (const word of process.argv.slice(2)) {
  if (word.startsWith('exit:')) process.exit(Number(word.slice(5)));
  await steps[word]();
  process.stderr.write(`did ${word}\n`);
}
process.exit(0);
