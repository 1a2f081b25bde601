/**
 * A message as a reader of a rendered history understands it. The parser follows the templates, not the renderer, so that it can find
 * errors of the renderer.
 */
export interface ReadMessage {
  readonly tag: string;
  readonly at: string;
  /** Null for the agent's own message with an origin, which says `You`. */
  readonly sender: { readonly name: string; readonly type: string; readonly id: string } | null;
  readonly text: string;
  readonly seen: boolean;
  readonly trigger: boolean;
}

export interface ReadHistory {
  readonly space: string;
  readonly messages: readonly ReadMessage[];
  readonly resume?: string;
  readonly summary?: string;
}

const string = '"(?:[^"\\\\]|\\\\.)*"';
const word = `(?:${string}|[^"\\[\\](),:]+?)`;
const id = `(?:${string}|[^\\s"\\\\()\\[\\]]+)`;
const head = new RegExp(`^ {2}\\[msg:(${id})\\] \\[(\\S+)\\] `);
const said = new RegExp(`^(${word}) \\((human|agent|service), id:(${id})\\): (${string}) {2}\\[(SEEN|NEW)\\]( ← TRIGGER)?$`);
const sentBecause = new RegExp(`^You: \\[sent because (?:${word} asked ${string} in ${string}|(?:plan|service) ${string} triggered)\\]$`);
const ownText = new RegExp(`^ {4}(${string}) {2}\\[(SEEN|NEW)\\]( ← TRIGGER)?$`);

export function unquote(text: string): string {
  if (!text.startsWith('"')) return text;
  return text.slice(1, -1).replace(/\\(u[0-9a-f]{4}|.)/g, (_, code: string) => {
    if (code === 'n') return '\n';
    if (code === 't') return '\t';
    return code.length === 5 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : code;
  });
}

export function parseHistory(text: string): ReadHistory {
  const [first = '', ...lines] = text.split('\n');
  const heading = new RegExp(`^SPACE HISTORY \\((${string})\\):$`).exec(first);
  if (!heading) throw new Error(`no heading: ${first}`);
  const messages: ReadMessage[] = [];
  let resume: string | undefined;
  let summary: string | undefined;
  for (let place = 0; place < lines.length; place += 1) {
    const line = lines[place] ?? '';
    const start = head.exec(line);
    if (start) {
      const [whole, tag = '', at = ''] = start;
      const rest = line.slice(whole.length);
      const spoken = said.exec(rest);
      if (spoken) {
        const [, name = '', type = '', senderId = '', words = '', seen, arrow] = spoken;
        const sender = { name: unquote(name), type, id: unquote(senderId) };
        messages.push({ tag: unquote(tag), at, sender, text: unquote(words), seen: seen === 'SEEN', trigger: arrow !== undefined });
        continue;
      }
      const own = sentBecause.test(rest) ? ownText.exec(lines[place + 1] ?? '') : null;
      if (!own) throw new Error(`no message: ${line}`);
      const [, words = '', seen, arrow] = own;
      messages.push({ tag: unquote(tag), at, sender: null, text: unquote(words), seen: seen === 'SEEN', trigger: arrow !== undefined });
      place += 1;
    } else if (line.startsWith('  ← RESUME: ')) resume = line.slice('  ← RESUME: '.length);
    else if (/^ {2}\[summary of \d+ earlier messages\] "/.test(line)) summary = unquote(line.slice(line.indexOf(']') + 2));
    else if (line !== '  (no messages)') throw new Error(`no line of a history: ${line}`);
  }
  return { space: unquote(heading[1] ?? ''), messages, ...(resume ? { resume } : {}), ...(summary === undefined ? {} : { summary }) };
}
