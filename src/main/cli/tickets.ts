import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { eventStates, type ReplyPart, type Ticket, type TicketEvent, type TicketRow, ticketStatuses, verdicts } from '../../core/contract/index.js';
import { drain } from './call.js';
import type { Connection } from './client.js';
import { wholeNumber } from './numbers.js';
import { counted, dim, green, printable, printJson, printText, red, say, UsageError, yellow } from './output.js';

interface Common {
  project?: string;
  json?: boolean;
}
type Within = (options: Common, work: (connection: Connection & { signal: AbortSignal }) => Promise<void>) => Promise<void>;
/** Adds the options that every command of a project has. */
type OfProject = (command: Command) => Command;

type Status = Ticket['status'];

/** Who writes, and what they understood: `by` alone has the context of the moment found by the engine. */
interface Occasion extends Common {
  by?: string;
  context?: string;
}

const byOption = (): Option => new Option('--by <name>', 'who does this: what they understood last is found by it');
const contextOption = (): Option => new Option('--context <commit>', 'what they understood, where it is known');
const reasonOption = (): Option => new Option('--reason <text>', 'kept with the version');
const nameOfTicket = (text: string): string => (text.startsWith('tkt-') ? text : `tkt-${text}`);

/** `stemma ticket …`: tickets, their findings and discussions, each with what was understood when it was written. */
export function addTicketCommands(program: Command, ofProject: OfProject, within: Within): void {
  const ticket = program.command('ticket').description('tickets that remember what was understood').exitOverride();
  ofProject(ticket.command('list').description('those of the project, the last changed first'))
    .addOption(new Option('--status <status>', 'those in it').choices(ticketStatuses))
    .addOption(new Option('--type <type>', 'those of a type, like bug or review_finding'))
    .addOption(new Option('--parent <ticket>', 'those under a ticket').argParser(nameOfTicket))
    .addOption(new Option('--assignee <name>', 'those that somebody has'))
    .addOption(new Option('--label <label>', 'those with a label'))
    .addOption(new Option('--text <words>', 'those whose title, text or id has the words'))
    .addOption(new Option('--ready', 'open, and nothing that they depend on is'))
    .addOption(new Option('--limit <number>', 'so many of them').argParser(wholeNumber).default(200))
    .action(({ project, json, ...filter }: Common & ListFilter) =>
      within({ project, json }, async ({ client }) => {
        const { rows, total } = await client.ticket.overview(filter);
        if (json) return printJson(rows);
        for (const row of rows) printText(line(row));
        printText(dim(rows.length < total ? `${rows.length} of ${counted(total, 'ticket')}; --limit shows more` : counted(total, 'ticket')));
      }),
    );
  ofProject(ticket.command('show <ticket>').description('a ticket with its versions and its discussion')).action((id: string, options: Common) =>
    within(options, async ({ client }) => {
      const ticketId = nameOfTicket(id);
      const [shown, thread] = await Promise.all([client.ticket.get({ ticketId }), client.ticket.thread({ ticketId })]);
      if (options.json) return printJson({ ...shown, thread });
      printText(whole(shown));
      for (const { by, commit, text, current } of thread.messages)
        printText(`\n${printable(by ?? 'somebody')}  ${dim(`${commit}${current ? '' : ', not gone on with'}`)}\n${printable(text)}`);
    }),
  );
  withFields(ofProject(ticket.command('create <title>').description('a new ticket')))
    .addOption(new Option('--type <type>', 'task, bug, feature, question, review or review_finding').default('task'))
    .action((title: string, options: Occasion & Fields & { type: string }) =>
      within(options, async ({ client }) => {
        said(options, await client.ticket.create({ title, ...fieldsOf(options), type: options.type }));
      }),
    );
  withFields(ofProject(ticket.command('update <ticket>').description('changes what it says; the change is a version that stays')))
    .addOption(new Option('--title <text>', 'another title'))
    .addOption(new Option('--type <type>', 'another type'))
    .addOption(new Option('--reviewer <name...>', 'who reviews, while it is in review'))
    .addOption(new Option('--resolution <text>', 'how it was resolved'))
    .addOption(reasonOption())
    .action((id: string, options: Occasion & Fields & { title?: string; reviewer?: string[]; resolution?: string; reason?: string }) =>
      within(options, async ({ client }) => {
        const { title, reviewer, resolution, reason } = options;
        const changed = { ticketId: nameOfTicket(id), ...fieldsOf(options), title, reviewers: reviewer, resolution, reason };
        said(options, await client.ticket.update(changed));
      }),
    );
  ofProject(ticket.command('move <ticket> <status>').description('to another status, with what that asks for'))
    .addOption(new Option('--assignee <name>', 'who does it: asked for by in_progress'))
    .addOption(new Option('--reviewer <name...>', 'who reviews: asked for by review'))
    .addOption(new Option('--resolution <text>', 'how a finding was resolved'))
    .addOption(reasonOption())
    .addOption(byOption())
    .addOption(contextOption())
    .action((id: string, to: string, options: Occasion & { assignee?: string; reviewer?: string[]; resolution?: string; reason?: string }) =>
      within(options, async ({ client }) => {
        const { assignee, reviewer, resolution, reason, by, context } = options;
        const status = oneOf(ticketStatuses, to, 'status');
        const moved = { ticketId: nameOfTicket(id), to: status, assignee, reviewers: reviewer, resolution, reason, by, contextId: context };
        said(options, await client.ticket.transition(moved));
      }),
    );
  ofProject(ticket.command('discuss <ticket> <text>').description('says something in its discussion: a commit on a branch from its context'))
    .addOption(byOption())
    .action((id: string, text: string, options: Occasion) =>
      within(options, async ({ client }) => {
        const written = await client.ticket.discuss({ ticketId: nameOfTicket(id), text, principal: options.by });
        options.json ? printJson(written) : printText(`${written.commit.id}  ${dim(`in ${written.threadId}`)}`);
      }),
    );
  ofProject(ticket.command('answer <ticket>').description('has the last message of its discussion answered, from what was understood then'))
    .addOption(new Option('--provider <name>', 'who answers: recorded, or a provider of `stemma call turn.providers`').default('recorded'))
    .addOption(new Option('--model <name>', "the model; else the provider's first"))
    .action((id: string, options: Common & { provider: string; model?: string }) =>
      within(options, async ({ client, signal }) => {
        const { provider, model } = options;
        const stream = await client.ticket.answer({ ticketId: nameOfTicket(id), provider, model }, { signal });
        const result = (await drain(stream, (part) => options.json || arriving(part as ReplyPart))) as Answered;
        if (options.json) return printJson(result);
        if (result.commit !== null) say(`\n${dim(`${result.commit} in ${result.threadId}`)}`);
      }),
    );
  ofProject(ticket.command('verdict <ticket> <reviewer> <verdict>').description(`what a reviewer says of it: ${verdicts.join(', ')}`))
    .addOption(reasonOption())
    .addOption(contextOption())
    .action((id: string, reviewer: string, given: string, options: Occasion & { reason?: string }) =>
      within(options, async ({ client }) => {
        const verdict = oneOf(verdicts, given, 'verdict');
        const { reason, context } = options;
        said(options, await client.ticket.verdict({ ticketId: nameOfTicket(id), reviewer, verdict, reason, contextId: context }));
      }),
    );
  ofProject(ticket.command('import [file]').description("tickets of GitHub's JSON or a Markdown task list; standard input where no file is named"))
    .addOption(new Option('--kind <kind>', 'what it is; else it is found out').choices(['github', 'markdown']))
    .addOption(new Option('--at <time>', 'when a task list was written (ISO 8601); else now'))
    .action((file: string | undefined, options: Common & { kind?: 'github' | 'markdown'; at?: string }) =>
      within(options, async ({ client }) => {
        const { created, known } = await client.ticket.import({ text: textOf(file), kind: options.kind, at: options.at as Ticket['createdAt'] });
        if (options.json) return printJson({ created, known });
        for (const id of created) printText(id);
        say(dim(`${counted(created.length, 'new ticket')}${known > 0 ? `, ${known.toLocaleString('en-US')} known already` : ''}`));
      }),
    );
  addStartCommands(ticket, ofProject, within);
}

/** Who should start, with what, from where: records to act on; nothing here runs anybody. */
function addStartCommands(ticket: Command, ofProject: OfProject, within: Within): void {
  ofProject(ticket.command('start <ticket> <who>').description('from which context somebody should start on it')).action(
    (id: string, who: string, options: Common) =>
      within(options, async ({ client }) => {
        const start = await client.ticket.startFrom({ ticketId: nameOfTicket(id), who });
        if (options.json) return printJson(start);
        printText(`${start.contextId === null ? 'fresh' : printable(start.contextId)}  ${dim(start.reason.replaceAll('_', ' '))}`);
        for (const { contextId, reason, known } of start.choices.filter((choice) => choice.contextId !== start.contextId))
          printText(dim(`or ${printable(contextId)}  ${reason.replaceAll('_', ' ')}${known ? '' : ', not in this project'}`));
      }),
  );
  ofProject(ticket.command('events').description('who was asked to start, oldest first'))
    .addOption(new Option('--after <number>', 'those after one that is known').argParser(wholeNumber))
    .addOption(new Option('--ticket <ticket>', 'those of a ticket').argParser(nameOfTicket))
    .addOption(new Option('--who <name>', 'those that ask somebody, or anybody'))
    .addOption(new Option('--state <state...>', 'those in a state').choices(eventStates).default(['waiting', 'taken'], 'waiting and taken'))
    .addOption(new Option('--follow', 'goes on with each that is asked for from now on, a line each'))
    .action((options: Common & { after?: number; ticket?: string; who?: string; state: TicketEvent['state'][]; follow?: boolean }) =>
      within(options, async ({ client, signal }) => {
        const { ticket: ticketId, who, state } = options;
        let { after } = options;
        const ask = async (): Promise<TicketEvent[]> => {
          const asked = await client.ticket.events({ after, ticketId, who, state });
          after = asked.at(-1)?.event ?? after;
          return asked;
        };
        if (!options.follow) {
          const asked = await ask();
          if (options.json) return printJson(asked);
          for (const event of asked) printText(startLine(event));
          return printText(dim(counted(asked.length, 'start')));
        }
        // Each asking leaves a commit or a version of a ticket behind, of which the project tells.
        for await (const _ of await client.project.changes({}, { signal }))
          for (const event of await ask()) options.json ? printJson(event) : printText(startLine(event));
      }),
    );
  ofProject(ticket.command('acknowledge <event> <as>').description('says of a start that it is taken, done or dismissed'))
    .addOption(byOption().makeOptionMandatory())
    .action((event: string, given: string, options: Common & { by: string }) =>
      within(options, async ({ client }) => {
        const as = oneOf(['taken', 'done', 'dismissed'] as const, given, 'answer');
        const acknowledged = await client.ticket.acknowledge({ event: wholeNumber(event), as, by: options.by });
        options.json ? printJson(acknowledged) : printText(startLine(acknowledged));
      }),
    );
}

interface ListFilter {
  status?: Status;
  type?: string;
  parent?: string;
  assignee?: string;
  label?: string;
  text?: string;
  ready?: boolean;
  limit: number;
}

/** What a ticket says, as options of the commands that write it. */
interface Fields {
  type?: string;
  body?: string;
  parent?: string;
  label?: string[];
  dependsOn?: string[];
  assignee?: string;
}

const withFields = (command: Command): Command =>
  command
    .addOption(new Option('--body <text>', 'what it says'))
    .addOption(new Option('--parent <ticket>', 'the ticket that it stands under').argParser(nameOfTicket))
    .addOption(new Option('--label <label...>', 'labels'))
    .addOption(new Option('--depends-on <ticket...>', 'tickets that it waits for'))
    .addOption(new Option('--assignee <name>', 'who has it'))
    .addOption(byOption())
    .addOption(contextOption());

const fieldsOf = ({ type, body, parent, label, dependsOn, assignee, by, context }: Occasion & Fields) => ({
  ...{ type, body, parent, assignee, by },
  labels: label,
  dependsOn: dependsOn?.map(nameOfTicket),
  contextId: context,
});

interface Answered {
  threadId: string;
  commit: string | null;
}

/** Text as it comes on standard output, what is said about it on standard error. */
function arriving(part: ReplyPart): void {
  if (part.kind === 'text') process.stdout.write(printable(part.delta));
  else if (part.kind === 'notice') say(dim(part.delta));
}

function textOf(file: string | undefined): string {
  try {
    return readFileSync(file === undefined || file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file ?? 'standard input'} cannot be read: ${(error as Error).message}`);
  }
}

function startLine({ event, who, task, ticketId, title, contextId, state, answeredBy }: TicketEvent): string {
  const from = contextId === null ? 'fresh' : `from ${printable(contextId)}`;
  const answered = state === 'waiting' ? '' : `  ${state}${answeredBy === null ? '' : ` by ${printable(answeredBy)}`}`;
  return `${String(event).padStart(4)}  ${printable(who ?? 'anybody')}: ${task.replaceAll('_', ' ')} ${ticketId} ${printable(title)}  ${dim(from + answered)}`;
}

function oneOf<T extends string>(all: readonly T[], text: string, what: string): T {
  const found = all.find((each) => each === text);
  if (found === undefined) throw new UsageError(`${printable(text)} is no ${what}; there are ${all.join(', ')}.`);
  return found;
}

function said(options: Common, ticket: Ticket): void {
  options.json ? printJson(ticket) : printText(line(ticket));
}

const colors: Readonly<Partial<Record<Status, (text: string) => string>>> = { closed: green, review: yellow, in_progress: yellow, blocked: red };

function line({ ticketId, status, type, title, assignee, reviewers }: Ticket | TicketRow): string {
  const people = status === 'review' ? reviewers.map(({ name, verdict }) => `${name} ${verdict}`).join(', ') : (assignee ?? '');
  const color = colors[status] ?? dim;
  return `${ticketId}  ${color(status.padEnd(11))}  ${printable(type)}  ${printable(title)}${people && dim(`  ${printable(people)}`)}`;
}

function whole(ticket: Ticket): string {
  const { body, resolution, children, dependsOn, labels, versions } = ticket;
  const lists = { children, 'depends on': dependsOn, labels };
  return [
    line(ticket),
    ...Object.entries(lists).flatMap(([name, all]) => (all.length > 0 ? [dim(`${name}: ${printable(all.join(', '))}`)] : [])),
    ...(body ? ['', printable(body)] : []),
    ...(resolution === null ? [] : ['', `Resolved: ${printable(resolution)}`]),
    '',
    ...versions.map(({ at, by, changes, contextId, contextFound, reason }) => {
      const understood = contextId === null ? 'context not recorded' : `${printable(contextId)} ${contextFound === 'resolved' ? 'found' : 'given'}`;
      return dim(`${at}  ${printable(by ?? 'somebody')}  ${Object.keys(changes).join(', ')}  ${understood}${reason ? `  ${printable(reason)}` : ''}`);
    }),
  ].join('\n');
}
