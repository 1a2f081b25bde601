// An agent that writes no transcript and says all on standard output, as `claude -p --no-session-persistence --output-format stream-json` does.
const session_id = '5e551011-5555-4111-8111-111111111111';
const event = (more) => `${JSON.stringify({ ...more, session_id, parent_tool_use_id: null })}\n`;
const said = (uuid, content) =>
  event({ type: 'assistant', uuid, message: { id: `m-${uuid}`, role: 'assistant', model: 'm', stop_reason: null, content: [content] } });

const output = [
  event({ type: 'system', subtype: 'init', cwd: process.cwd(), uuid: 'i1' }),
  'a line that is no event\n',
  said('a1', { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }),
  event({ type: 'user', uuid: 'r1', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'päper' }] } }),
  said('a2', { type: 'text', text: 'There is paper.' }),
  event({ type: 'result', subtype: 'success', is_error: false, uuid: 'z1' }),
].join('');

// In parts that end anywhere.
const bytes = Buffer.from(output);
for (let at = 0; at < bytes.length; at += 101) {
  process.stdout.write(bytes.subarray(at, at + 101));
  await new Promise((resume) => setTimeout(resume, 1));
}
process.exitCode = 5;
