// An agent as far as its files go: writes a session of Claude Code for its working directory, turn by turn, as told by its arguments:
// `session:ID` (its session from now on), `finding:PARENT` (creates a ticket in the middle of a turn, as its principal in STEMMA_AS),
// `turn`, `call` (asks the model that its environment names, and says what came), `open` (a turn that goes on), `left` (what the real one writes last), `wait` (until a line comes), `hang`, `exit:N`.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

let session = '5e551011-1111-4111-8111-111111111111';
const cwd = process.cwd();
const folder = join(process.env.CLAUDE_CONFIG_DIR ?? join(homedir(), '.claude'), 'projects', cwd.replace(/[^a-zA-Z0-9]/g, '-'));
mkdirSync(folder, { recursive: true });
let file = join(folder, `${session}.jsonl`);

let last = null;
let turns = 0;
let prefix = '';
const write = (type, id, message) => {
  const uuid = `${prefix}${id}`;
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
  finding: (parent) => {
    steps.open();
    const { STEMMA_CLI: cli, STEMMA_AS: by } = process.env;
    const words = ['ticket', 'create', `Finding ${turns}`, '--type', 'review_finding', '--parent', parent, '--by', by, '--json'];
    const made = spawnSync(process.execPath, [cli, ...words], { encoding: 'utf8' });
    process.stdout.write(made.stdout + made.stderr);
    write('user', `r${turns}`, { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${turns}`, content: 'created' }] });
    say(`a${turns}`, [{ type: 'text', text: `answer ${turns}` }], 'end_turn');
  },
  session: (id) => {
    session = id;
    prefix = `${id}-`;
    last = null;
    file = join(folder, `${session}.jsonl`);
  },
  left: () => appendFileSync(file, `{"type":"cost-state","sessionId":"${session}"}\n`),
  wait: async () => process.stdout.write(`heard ${(await lines.next()).value}\n`),
  hang: () => new Promise((resume) => setTimeout(resume, 1_000_000)),
};
for (const word of process.argv.slice(2)) {
  if (word.startsWith('exit:')) process.exit(Number(word.slice(5)));
  const [step, ...given] = word.split(':');
  await steps[step](given.join(':'));
  process.stderr.write(`did ${word}\n`);
}
process.exit(0);
