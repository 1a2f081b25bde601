import { type Command, Option } from 'commander';
import { type Ticket, ticketStatuses, verdicts } from '../../core/contract/index.js';
import type { Connection } from './client.js';
import { dim, green, printable, printJson, printText, red, UsageError, yellow } from './output.js';

interface Common {
  project?: string;
  json?: boolean;
}
type Within = (options: Common, work: (connection: Connection) => Promise<void>) => Promise<void>;
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
  ofProject(ticket.command('list').description('those of the project'))
    .addOption(new Option('--status <status>', 'those in it').choices(ticketStatuses))
    .addOption(new Option('--type <type>', 'those of a type, like bug or review_finding'))
    .addOption(new Option('--parent <ticket>', 'those under a ticket').argParser(nameOfTicket))
    .addOption(new Option('--ready', 'open, and nothing that they depend on is'))
    .action((options: Common & { status?: Status; type?: string; parent?: string; ready?: boolean }) =>
      within(options, async ({ client }) => {
        const { status, type, parent, ready } = options;
        const rows = await client.ticket.list({ status, type, parent, ready });
        if (options.json) return printJson(rows);
        for (const row of rows) printText(line(row));
        printText(dim(`${rows.length} tickets`));
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
  ofProject(ticket.command('create <title>').description('a new ticket'))
    .addOption(new Option('--type <type>', 'task, bug, feature, question, review or review_finding').default('task'))
    .addOption(new Option('--body <text>', 'what it says'))
    .addOption(new Option('--parent <ticket>', 'the ticket that it stands under').argParser(nameOfTicket))
    .addOption(new Option('--label <label...>', 'labels'))
    .addOption(byOption())
    .addOption(contextOption())
    .action((title: string, options: Occasion & { type: string; body?: string; parent?: string; label?: string[] }) =>
      within(options, async ({ client }) => {
        const { type, body, parent, label, by, context } = options;
        said(options, await client.ticket.create({ title, type, body, parent, labels: label, by, contextId: context }));
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

function line({ ticketId, status, type, title, assignee, reviewers }: Ticket): string {
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
