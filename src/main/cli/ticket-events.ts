import { type Command, Option } from 'commander';
import { eventStates, type OutputOf, type TicketEvent } from '../../core/contract/index.js';
import { dim, line, printJson, printText } from '../terminal/index.js';
import { addCall } from './call.js';
import { addProjectCommand, type ProjectOptions, untilStopped, withStoppableProject } from './command.js';
import { counted } from './numbers.js';
import { wholeNumber } from './option-values.js';
import { byOption, choice, ticketFields, ticketName } from './ticket-options.js';
import { startLine } from './ticket-text.js';

/** Adds `stemma ticket start`, `events` and `acknowledge`: who should start on which ticket, from which context. None starts an agent. */
export function addTicketEventCommands(ticket: Command): void {
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

interface EventOptions extends ProjectOptions {
  after?: number;
  ticket?: string;
  who?: string;
  state: TicketEvent['state'][];
  follow?: boolean;
}

function showEvents(options: EventOptions): Promise<void> {
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
