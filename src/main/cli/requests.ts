import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { ContextId, PartDiff, RequestDiff, RequestPartRow, RequestRow } from '../../core/contract/index.js';
import type { Connection } from './client.js';
import { dim, green, printable, printJson, printText, red, size, yellow } from './output.js';

interface Common {
  project?: string;
  json?: boolean;
}
type Within = (options: Common, work: (connection: Connection) => Promise<void>) => Promise<void>;
/** Adds the options that every command of a project has. */
type OfProject = (command: Command) => Command;

/** `stemma request …` and `stemma source …`: model calls as they were sent, and imported files as they were read. */
export function addRequestCommands(program: Command, ofProject: OfProject, within: Within): void {
  const request = program.command('request').description('model calls as they were sent').exitOverride();
  ofProject(request.command('list [commit]').description('the calls behind a commit, or all of the project, in the order sent'))
    .addOption(new Option('--session <id>', 'those of one session and its subagents'))
    .action((id: string | undefined, options: Common & { session?: string }) =>
      within(options, async ({ client }) => {
        const rows = await client.request.list({
          ...(id !== undefined && { id: id as ContextId, stop: 'root' as const }),
          sessionId: options.session,
        });
        if (options.json) return printJson(rows);
        for (const row of rows) printText(callLine(row));
        printText(dim(`${rows.length} calls, ${rows.filter((row) => row.proof === 'digest').length} proved`));
      }),
    );
  ofProject(request.command('show <request>').description('a call whole: its body on standard output, its proof on standard error')).action(
    (requestId: string, options: Common) =>
      within(options, async ({ client }) => {
        const call = await client.request.get({ requestId });
        if (options.json) return printJson(call);
        printText(JSON.stringify(call.body, null, 2));
        process.stderr.write(
          `${proofWords[call.proof](call.proof)}${call.missing.length ? dim(`; not recorded: ${call.missing.join(', ')}`) : ''}${call.problem ? red(`; ${call.problem}`) : ''}\n`,
        );
      }),
  );
  ofProject(request.command('diff <a> <b>').description('what changed from one call to another, and where the cached beginning broke')).action(
    (a: string, b: string, options: Common) =>
      within(options, async ({ client }) => {
        const diff = await client.request.diff({ a, b });
        if (options.json) return printJson(diff);
        for (const line of diffLines(diff)) printText(line);
      }),
  );

  ofProject(
    request.command('prompts [part] [other]').description('the system prompts and tool sets of all calls; one of them; what changed to another'),
  ).action((part: string | undefined, other: string | undefined, options: Common) =>
    within(options, async ({ client }) => {
      if (part === undefined) {
        const rows = await client.request.parts({});
        if (options.json) return printJson(rows);
        for (const row of rows) printText(partLine(row));
      } else if (other === undefined) {
        const whole = await client.request.part({ partId: part });
        if (options.json) return printJson(whole);
        for (const { name, text, tokens } of whole.sections) printText(`${dim(`# ${printable(name)} (≈${tokens} tok)`)}\n${printable(text)}\n`);
      } else {
        const diff = await client.request.partDiff({ a: part, b: other });
        if (options.json) return printJson(diff);
        for (const line of partDiffLines(diff)) printText(line);
      }
    }),
  );

  const source = program.command('source').description('imported files').exitOverride();
  ofProject(source.command('list').description('what was imported, the latest first')).action((options: Common) =>
    within(options, async ({ client }) => {
      const rows = await client.source.list({});
      if (options.json) return printJson(rows);
      for (const row of rows)
        printText(
          `${row.sourceId}  ${size(row.bytes).padStart(9)}  ${row.format}  ${printable(row.path)}${row.title ? dim(`  ${printable(row.title)}`) : ''}`,
        );
    }),
  );
  ofProject(source.command('get <source>').description('an imported file again, byte for byte, out of the store alone'))
    .requiredOption('-o, --output <file>', 'where to; never over a file that is there')
    .action((sourceId: string, options: Common & { output: string }) =>
      within(options, async ({ client }) => {
        const file = await client.source.get({ sourceId, path: resolve(options.output) });
        options.json ? printJson(file) : printText(`Wrote ${file.path} (${size(file.bytes)}, ${file.hash}).`);
      }),
    );
}

const proofWords = { digest: green, recorded: yellow, rebuilt: dim } as const;
const proofSigns = { digest: '✓', recorded: '◐', rebuilt: '○' } as const;

function callLine(row: RequestRow): string {
  const { input, output, cacheRead } = row.tokens;
  const usage = [input !== null && `${input} in`, cacheRead !== null && `${cacheRead} cached`, output !== null && `${output} out`]
    .filter((part) => part !== false)
    .join(', ');
  return `${proofWords[row.proof](proofSigns[row.proof])} ${row.requestId}  ${row.at}  ${row.commit ?? 'no commit'}  ${row.model ?? 'model not recorded'}  ${row.messageCount} messages${usage && `  ${usage}`}${row.agentId ? dim(`  subagent ${row.agentId}`) : ''}`;
}

const partLine = (row: RequestPartRow): string =>
  `${row.partId}  ${row.first.slice(0, 10)} to ${row.last.slice(0, 10)}  ≈${row.tokens} tok  ${row.calls} calls in ${row.sessions} sessions  ${printable([...row.agents, ...row.versions].join(' '))}  ${dim(printable(row.head))}`;

function partDiffLines({ sections, same, reordered }: PartDiff): string[] {
  if (same && !reordered) return [dim('the same')];
  const moved = reordered ? ['what both have stands in another order'] : [];
  const signs = {
    same: (text: string) => dim(`  ${text}`),
    added: (text: string) => green(`+ ${text}`),
    removed: (text: string) => red(`- ${text}`),
  };
  return [
    ...moved,
    ...sections.flatMap(({ name, op, lines }) =>
      op === 'same'
        ? []
        : [`${op} ${printable(name)}`, ...lines.filter((line) => line.op !== 'same').map((line) => signs[line.op](printable(line.text)))],
    ),
  ];
}

function diffLines({ system, tools, params, messages, cache }: RequestDiff): string[] {
  const parts = { 'system prompt': system, tools, parameters: params };
  const changed = Object.entries(parts).flatMap(([name, { same, changes }]) =>
    same ? [dim(`${name}: the same`)] : [`${name}:`, ...changes.map((change) => `  ${change.op} ${printable(change.path)}`)],
  );
  const counted = messages.hunks.filter((hunk) => hunk.op !== 'same').map((hunk) => `${hunk.op} ${Math.max(hunk.aCount, hunk.bCount)}`);
  return [
    ...changed,
    messages.same ? dim('messages: the same') : `messages: ${messages.a} to ${messages.b} (${counted.join(', ')})`,
    cache.brokenAt === null
      ? `the cached beginning holds: ${cache.prefix.messages} messages`
      : red(`the cached beginning broke at ${printable(cache.brokenAt)}`),
  ];
}
