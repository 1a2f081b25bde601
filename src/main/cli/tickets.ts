import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { finished } from '../../core/base/index.js';
import { type InputOf, type ReplyPart, type Ticket, ticketStatuses, verdicts } from '../../core/contract/index.js';
import { readStandardInput } from '../launch/index.js';
import { block, dim, line, printJson, printPart, printText, say } from '../terminal/index.js';
import { addCall } from './call.js';
import { addProjectCommand, type ProjectOptions, withProject, withStoppableProject } from './command.js';
import { UsageError } from './errors.js';
import { counted } from './numbers.js';
import { wholeNumber } from './option-values.js';
import { addTicketEventCommands } from './ticket-events.js';
import { byOption, contextOption, reasonOption, ticketFields, ticketName, withFieldOptions } from './ticket-options.js';
import { describeTicket, ticketLine } from './ticket-text.js';

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
    const reply = await finished(stream, (part) => options.json || printReply(part));
    if (options.json) return printJson(reply);
    if (reply.commit !== null) say(line`\n${dim(`${reply.commit} in ${reply.threadId}`)}`);
  });
}

/** Prints the text of a reply on standard output as it arrives, and notices on standard error. */
function printReply(part: ReplyPart): void {
  if (part.kind === 'text') printPart(part.delta);
  else if (part.kind === 'notice') say(dim(block(part.delta)));
}
