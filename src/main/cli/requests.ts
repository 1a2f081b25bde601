import { type Command, Option } from 'commander';
import { maxRequests, type PartDiff, type RequestDiff, type RequestPartRow, type RequestRow } from '../../core/contract/index.js';
import { block, dim, green, line, printExact, printJson, printText, red, say, type Text, yellow } from '../terminal/index.js';
import { addCall } from './call.js';
import { addProjectCommand, commitName, type ProjectOptions, pathOption, rawOption, withProject } from './command.js';
import { counted, size } from './numbers.js';
import { wholeNumber } from './option-values.js';

/** Adds `stemma request …` for model calls as they were sent, and `stemma source …` for imported files as they were read. */
export function addRequestCommands(program: Command): void {
  const request = program.command('request').description('show model calls as they were sent');
  addProjectCommand(request, 'list [commit]', 'list the calls behind a commit, or all calls, in the order sent')
    .addOption(new Option('--session <id>', 'only calls of this session and its subagents'))
    .addOption(new Option('--offset <count>', 'number of calls to skip').argParser(wholeNumber))
    .addOption(new Option('--limit <count>', 'largest number of calls').argParser(wholeNumber).default(maxRequests))
    .action(listRequests);
  addProjectCommand(request, 'show <request>', 'print the body of a call on standard output, and its proof on standard error')
    .addOption(rawOption())
    .action(showRequest);
  addCall(request, 'diff <a> <b>', 'compare two calls, and show where the cached prefix ends', 'request.diff', (diff) => {
    for (const each of describeDiff(diff)) printText(each);
  });
  addProjectCommand(request, 'prompts [part] [other]', 'list the system prompts and tool sets, print one, or compare two').action(showPrompts);

  const source = program.command('source').description('show imported files');
  addCall(source, 'list', 'list the imported files, newest first', 'source.list', (rows) => {
    for (const { sourceId, bytes, format, path, title } of rows)
      printText(line`${sourceId}  ${size(bytes).padStart(9)}  ${format}  ${path}${title ? dim(`  ${title}`) : ''}`);
  });
  addCall(
    source,
    'get <source>',
    'write an imported file again, byte for byte, from the store alone',
    'source.get',
    ({ path, bytes, hash }) => printText(`Wrote ${path} (${size(bytes)}, ${hash}).`),
    { output: 'path' },
  ).requiredOption('-o, --output <file>', 'the new file', pathOption);
}

function listRequests(id: string | undefined, options: ProjectOptions & { session?: string; offset?: number; limit: number }): Promise<void> {
  return withProject(options, async ({ client }) => {
    const commit = id === undefined ? {} : { id: commitName(id), stop: 'root' as const };
    const page = await client.request.list({ ...commit, sessionId: options.session, offset: options.offset, limit: options.limit });
    if (options.json) return printJson(page);
    const { total, requests: rows } = page;
    for (const row of rows) printText(describeCall(row));
    const number = (proof: RequestRow['proof']): string => rows.filter((row) => row.proof === proof).length.toLocaleString('en-US');
    printText(
      dim(
        `${rows.length < total ? `${rows.length.toLocaleString('en-US')} of ` : ''}${counted(total, 'call')}: ${number('digest')} verified by digest (✓), ${number('recorded')} recorded (◐), ${number('rebuilt')} rebuilt (○)`,
      ),
    );
  });
}

function showRequest(requestId: string, options: ProjectOptions & { raw?: true }): Promise<void> {
  return withProject(options, async ({ client }) => {
    const call = await client.request.get({ requestId });
    if (options.json) return printJson(call);
    printExact(`${JSON.stringify(call.body, null, 2)}\n`, { raw: options.raw, json: true });
    const missing = call.missing.length > 0 ? dim(`; not recorded: ${call.missing.join(', ')}`) : '';
    say(line`${proofPaints[call.proof](call.proof)}${missing}${call.problem ? red(`; ${call.problem}`) : ''}`);
  });
}

function showPrompts(part: string | undefined, other: string | undefined, options: ProjectOptions): Promise<void> {
  return withProject(options, async ({ client }) => {
    if (part === undefined) {
      const rows = await client.request.parts({});
      if (options.json) return printJson(rows);
      for (const row of rows) printText(describePart(row));
    } else if (other === undefined) {
      const { sections, ...whole } = await client.request.part({ partId: part });
      if (options.json) return printJson({ ...whole, sections });
      for (const { name, text, tokens } of sections) printText(line`${dim(`# ${name} (≈${counted(tokens, 'token')})`)}\n${block(text)}\n`);
    } else {
      const diff = await client.request.partDiff({ a: part, b: other });
      if (options.json) return printJson(diff);
      for (const each of describePartDiff(diff)) printText(each);
    }
  });
}

const proofPaints = { digest: green, recorded: yellow, rebuilt: dim } as const;
const proofSigns = { digest: '✓', recorded: '◐', rebuilt: '○' } as const;

function describeCall(row: RequestRow): Text {
  const { input, output, cacheRead } = row.tokens;
  const counts = [[input, 'in'] as const, [cacheRead, 'cached'] as const, [output, 'out'] as const];
  const usage = counts.flatMap(([count, name]) => (count === null ? [] : [`${count.toLocaleString('en-US')} ${name}`])).join(', ');
  const sign = proofPaints[row.proof](proofSigns[row.proof]);
  const model = row.model ?? 'model not recorded';
  const subagent = row.agentId ? dim(`  subagent ${row.agentId}`) : '';
  return line`${sign} ${row.requestId}  ${row.at}  ${row.commit ?? 'no commit'}  ${model}  ${counted(row.messageCount, 'message')}${usage && `  ${usage}`}${subagent}`;
}

function describePart(row: RequestPartRow): Text {
  const days = `${row.first.slice(0, 10)} to ${row.last.slice(0, 10)}`;
  const users = [...row.agents, ...row.versions].join(' ');
  return line`${row.partId}  ${days}  ≈${counted(row.tokens, 'token')}  ${counted(row.calls, 'call')} in ${counted(row.sessions, 'session')}  ${users}  ${dim(row.head)}`;
}

function describePartDiff({ sections, same, reordered }: PartDiff): Text[] {
  if (same && !reordered) return [dim('the same')];
  const signs = {
    same: (text: string) => dim(`  ${text}`),
    added: (text: string) => green(`+ ${text}`),
    removed: (text: string) => red(`- ${text}`),
  };
  const changed = sections.filter(({ op }) => op !== 'same');
  return [
    ...(reordered ? [line`the common sections are in another order`] : []),
    ...changed.flatMap(({ name, op, lines }) => [
      line`${op} ${name}`,
      ...lines.filter((each) => each.op !== 'same').map((each) => signs[each.op](each.text)),
    ]),
  ];
}

function describeDiff({ system, tools, params, messages, cache }: RequestDiff): Text[] {
  const parts = { 'system prompt': system, tools, parameters: params };
  const changed = Object.entries(parts).flatMap(([name, { same, changes }]) =>
    same ? [dim(`${name}: the same`)] : [line`${name}:`, ...changes.map(({ op, path }) => line`  ${op} ${path}`)],
  );
  const hunks = messages.hunks.filter((hunk) => hunk.op !== 'same').map((hunk) => `${hunk.op} ${Math.max(hunk.aCount, hunk.bCount)}`);
  return [
    ...changed,
    messages.same ? dim('messages: the same') : line`messages: ${messages.a} to ${messages.b} (${hunks.join(', ')})`,
    cache.brokenAt === null
      ? line`cache prefix intact: ${counted(cache.prefix.messages, 'message')} reusable`
      : red(`cache prefix broken at ${cache.brokenAt}`),
  ];
}
