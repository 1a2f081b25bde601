import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { finished } from '../../core/base/index.js';
import { eventStates, type InputOf, type OutputOf, type Ticket, type TicketEvent, ticketStatuses, verdicts } from '../../core/contract/index.js';
import { readStandardInput } from '../launch/index.js';
import { block, dim, line, printJson, printPart, printText, say } from '../terminal/index.js';
import { addCall, type CallField } from './call.js';
import { addProjectCommand, type ProjectOptions, untilStopped, withProject, withStoppableProject } from './command.js';
import { UsageError } from './errors.js';
import { counted } from './numbers.js';
import { wholeNumber } from './option-values.js';
import { describeTicket, startLine, ticketLine } from './ticket-text.js';

/** Adds `stemma ticket …`, which handles tickets, findings and discussions with the contexts of their authors. */
export function addTicketCommands(program: Command): void {
  const ticket = program.command('ticket').description('work with tickets and the contexts they were written from');
  addReadingCommands(ticket);
  addWritingCommands(ticket);
  addDiscussionCommands(ticket);
  addTicketEventCommands(ticket);
}

function addReadingCommands(ticket: Command): void {
  addProjectCommand(ticket, 'list', 'list tickets, most recently changed first')
    .addOption(new Option('--status <status>', 'only tickets in this status').choices(ticketStatuses))
    .addOption(new Option('--type <type>', 'only tickets of this type, such as bug or review_finding'))
    .addOption(new Option('--parent <ticket>', 'only subtickets of this ticket').argParser(ticketName))
    .addOption(new Option('--assignee <name>', 'only tickets of this assignee'))
    .addOption(new Option('--label <label>', 'only tickets with this label'))
    .addOption(new Option('--text <words>', 'only tickets whose title, text or id contains the words'))
    .addOption(new Option('--ready', 'only open tickets with no open dependencies'))
    .addOption(new Option('--limit <number>', 'largest number of tickets').argParser(wholeNumber).default(200))
    .action(listTickets);
  addProjectCommand(ticket, 'show <ticket>', 'show a ticket with its versions and its discussion').action(showTicket);
}

function addWritingCommands(ticket: Command): void {
  withFieldOptions(addCall(ticket, 'create <title>', 'create a ticket', 'ticket.create', printTicket, ticketFields)).addOption(
    new Option('--type <type>', 'task, bug, feature, question, review or review_finding').default('task'),
  );
  withFieldOptions(
    addCall(ticket, 'update <ticket>', 'change fields of a ticket; earlier versions are kept', 'ticket.update', printTicket, ticketFields),
  )
    .addOption(new Option('--title <text>', 'the new title'))
    .addOption(new Option('--type <type>', 'the new type'))
    .addOption(new Option('--reviewer <name...>', 'the reviewers, while the ticket is in review'))
    .addOption(new Option('--resolution <text>', 'how the ticket was resolved'))
    .addOption(reasonOption());
  addCall(ticket, 'move <ticket> <status>', 'move a ticket to another status', 'ticket.transition', printTicket, ticketFields)
    .addOption(new Option('--assignee <name>', 'the assignee; required for in_progress'))
    .addOption(new Option('--reviewer <name...>', 'the reviewers; required for review'))
    .addOption(new Option('--resolution <text>', 'how a finding was resolved'))
    .addOption(reasonOption())
    .addOption(byOption())
    .addOption(contextOption());
  const given = `record the verdict of a reviewer: ${verdicts.join(', ')}`;
  addCall(ticket, 'verdict <ticket> <reviewer> <verdict>', given, 'ticket.verdict', printTicket, { ...ticketFields, reviewer: 'reviewer' })
    .addOption(reasonOption())
    .addOption(contextOption());
  addProjectCommand(ticket, 'import [file]', "import tickets from GitHub's JSON or a Markdown task list (default: standard input)")
    .addOption(new Option('--kind <kind>', 'the kind of file (default: detected)').choices(['github', 'markdown']))
    .addOption(new Option('--at <time>', 'when a task list was written, in ISO 8601 (default: now)'))
    .action(importTickets);
}

function addDiscussionCommands(ticket: Command): void {
  addCall(
    ticket,
    'discuss <ticket> <text>',
    "add a message to the discussion, as a commit on a branch from the ticket's context",
    'ticket.discuss',
    ({ commit, threadId }) => printText(line`${commit.id}  ${dim(`in ${threadId}`)}`),
    { ...ticketFields, by: 'principal' },
  ).addOption(byOption());
  addProjectCommand(ticket, 'answer <ticket>', "let a model answer the last message of the discussion from the ticket's context")
    .addOption(new Option('--provider <name>', 'who answers: recorded, or a provider from `stemma call turn.providers`').default('recorded'))
    .addOption(new Option('--model <name>', "the model (default: the provider's first)"))
    .action(answer);
}

type ListOptions = ProjectOptions & InputOf<'ticket.overview'> & { limit: number };

function listTickets({ project, trust, json, ...filter }: ListOptions): Promise<void> {
  return withProject({ project, trust }, async ({ client }) => {
    const { rows, total } = await client.ticket.overview(filter);
    if (json) return printJson(rows);
    for (const row of rows) printText(ticketLine(row));
    printText(dim(rows.length < total ? `${rows.length} of ${counted(total, 'ticket')}; --limit shows more` : counted(total, 'ticket')));
  });
}

function showTicket(id: string, options: ProjectOptions): Promise<void> {
  return withProject(options, async ({ client }) => {
    const ticketId = ticketName(id);
    const [ticket, thread] = await Promise.all([client.ticket.get({ ticketId }), client.ticket.thread({ ticketId })]);
    if (options.json) return printJson({ ...ticket, thread });
    printText(describeTicket(ticket));
    for (const { by, commit, text, current } of thread.messages)
      printText(line`\n${by ?? 'unknown'}  ${dim(`${commit}${current ? '' : ', not continued'}`)}\n${block(text)}`);
  });
}

const printTicket = (ticket: Ticket): void => printText(ticketLine(ticket));

function importTickets(file: string | undefined, options: ProjectOptions & { kind?: 'github' | 'markdown'; at?: string }): Promise<void> {
  return withProject(options, async ({ client }) => {
    const { created, known } = await client.ticket.import({ text: await readText(file), kind: options.kind, at: options.at as Ticket['createdAt'] });
    if (options.json) return printJson({ created, known });
    for (const id of created) printText(id);
    say(dim(`${counted(created.length, 'new ticket')}${known > 0 ? `, ${known.toLocaleString('en-US')} imported before` : ''}`));
  });
}

async function readText(file: string | undefined): Promise<string> {
  try {
    return file === undefined || file === '-' ? await readStandardInput() : readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${file ?? 'standard input'}: ${(error as Error).message}`);
  }
}

function answer(id: string, options: ProjectOptions & { provider: string; model?: string }): Promise<void> {
  return withStoppableProject(options, async ({ client, signal }) => {
    const { provider, model } = options;
    const stream = await client.ticket.answer({ ticketId: ticketName(id), provider, model }, { signal });
    const reply = await finished(stream, ({ kind, delta }) => {
      if (options.json) return;
      if (kind === 'text') printPart(delta);
      else if (kind === 'notice') say(dim(block(delta)));
    });
    if (options.json) return printJson(reply);
    if (reply.commit !== null) say(line`\n${dim(`${reply.commit} in ${reply.threadId}`)}`);
  });
}

/** Adds `stemma ticket start`, `events` and `acknowledge`: who should start on which ticket, from which context. None starts an agent. */
function addTicketEventCommands(ticket: Command): void {
  addCall(
    ticket,
    'start <ticket> <who>',
    'print the context from which someone should start on a ticket',
    'ticket.startFrom',
    printStart,
    ticketFields,
  );
  addProjectCommand(ticket, 'events', 'list the requests to start, oldest first')
    .addOption(new Option('--after <number>', 'only requests after this one').argParser(wholeNumber))
    .addOption(new Option('--ticket <ticket>', 'only requests for this ticket').argParser(ticketName))
    .addOption(new Option('--who <name>', 'only requests to this agent or to anyone'))
    .addOption(
      new Option('--state <state...>', 'only requests in these states').choices(eventStates).default(['waiting', 'taken'], 'waiting and taken'),
    )
    .addOption(new Option('--follow', 'keep running and print new requests, one on each line'))
    .action(showEvents);
  addCall(
    ticket,
    'acknowledge <event> <as>',
    'mark a request to start as taken, done or dismissed',
    'ticket.acknowledge',
    (acknowledged) => printText(startLine(acknowledged)),
    { event: ['event', wholeNumber], as: ['as', choice(['taken', 'done', 'dismissed'], 'answer')] },
  ).addOption(byOption().makeOptionMandatory());
}

function printStart({ contextId: from, reason: why, choices }: OutputOf<'ticket.startFrom'>): void {
  printText(line`${from ?? 'fresh'}  ${dim(why.replaceAll('_', ' '))}`);
  for (const { contextId, reason, known } of choices.filter((each) => each.contextId !== from))
    printText(dim(`or ${contextId}  ${reason.replaceAll('_', ' ')}${known ? '' : ', not in this project'}`));
}

function showEvents(
  options: ProjectOptions & { after?: number; ticket?: string; who?: string; state: TicketEvent['state'][]; follow?: boolean },
): Promise<void> {
  return withStoppableProject(options, async ({ client, signal }) => {
    const { ticket: ticketId, who, state } = options;
    let { after } = options;
    const readNew = async (): Promise<TicketEvent[]> => {
      const events = await client.ticket.events({ after, ticketId, who, state });
      after = events.at(-1)?.event ?? after;
      return events;
    };
    if (!options.follow) {
      const events = await readNew();
      if (options.json) return printJson(events);
      for (const event of events) printText(startLine(event));
      return printText(dim(counted(events.length, 'request')));
    }
    // A new request to start always comes with a new commit or ticket version, so a change event of the project announces it.
    for await (const _ of untilStopped(await client.project.changes({}, { signal }), signal))
      for (const event of await readNew()) options.json ? printJson(event) : printText(startLine(event));
  });
}

/** `--by`: the name of the author. */
const byOption = (): Option => new Option('--by <name>', 'your name; Stemma finds your latest context by it');
/** `--context`: the commit with the author's context. */
const contextOption = (): Option => new Option('--context <commit>', 'the commit with your context (default: the latest of --by)');
/** `--reason`: the reason for a version. */
const reasonOption = (): Option => new Option('--reason <text>', 'the reason, which is stored with the version');

/** The id of a ticket as a person types it: `3f9a12c4` means `tkt-3f9a12c4`. */
const ticketName = (text: string): string => (text.startsWith('tkt-') ? text : `tkt-${text}`);

/** Adds the options that both `create` and `update` accept, except for the type. */
const withFieldOptions = (command: Command): Command =>
  command
    .addOption(new Option('--body <text>', 'the text of the ticket'))
    .addOption(new Option('--parent <ticket>', 'the parent ticket').argParser(ticketName))
    .addOption(new Option('--label <label...>', 'labels'))
    .addOption(new Option('--depends-on <ticket...>', 'tickets that must be closed first'))
    .addOption(new Option('--assignee <name>', 'who works on it'))
    .addOption(byOption())
    .addOption(contextOption());

/** Reads one of the allowed words. @throws UsageError that lists them. */
export const choice =
  (allowed: readonly string[], what: string) =>
  (text: string): string => {
    if (!allowed.includes(text)) throw new UsageError(`${text} is not a ${what}. Allowed: ${allowed.join(', ')}.`);
    return text;
  };

/** The fields of a ticket for the words and options of its commands. */
const ticketFields: Readonly<Record<string, CallField>> = {
  ticket: ['ticketId', ticketName],
  status: ['to', choice(ticketStatuses, 'status')],
  verdict: ['verdict', choice(verdicts, 'verdict')],
  label: 'labels',
  reviewer: 'reviewers',
  dependsOn: ['dependsOn', (tickets: string[]) => tickets.map(ticketName)],
  context: 'contextId',
};
