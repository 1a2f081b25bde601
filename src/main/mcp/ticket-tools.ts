import { finished, parseJson } from '../../core/base/index.js';
import { contract, z } from '../../core/contract/index.js';
import { custom, ownEvent, readInputSchema, reads, toolsOf, writes } from './tool.js';

/** A default limit, because all tickets would fill the agent's context window in one call. */
const defaultTickets = 50;

/** The people that JSON of GitHub names. */
function loginsIn(json: unknown): string[] {
  const logins: string[] = [];
  for (const left = [json]; left.length > 0; ) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    if ('login' in value && typeof value.login === 'string') logins.push(value.login);
    for (const member of Object.values(value)) left.push(member);
  }
  return logins;
}

export const ticketTools = toolsOf('tickets', {
  ticket_create: writes('ticket.create', 'Creates a ticket. With `by` and without a context, records your latest context.', { who: 'by' }),
  ticket_update: writes('ticket.update', 'Changes fields of a ticket. Each change is stored as a version.', { who: 'by' }),
  ticket_get: reads('ticket.get', 'Returns a ticket with all its versions.'),
  ticket_list: reads(
    'ticket.list',
    `Lists whole tickets by status, type or parent, in order of creation (default \`limit\` ${defaultTickets}). \`ready\` tickets are open and have no open dependencies.`,
    { limit: defaultTickets },
  ),
  ticket_overview: reads(
    'ticket.overview',
    `Lists tickets in short form, most recently changed first, by their fields and their words (default \`limit\` ${defaultTickets}), with \`counts\` by status.`,
    { limit: defaultTickets },
  ),
  ticket_transition: writes('ticket.transition', 'Moves a ticket to another status. A move to in_progress needs an assignee.', { who: 'by' }),
  ticket_verdict: writes('ticket.verdict', "Records a reviewer's verdict on a ticket in review.", { who: 'reviewer' }),
  ticket_discuss: writes('ticket.discuss', "Adds a message to a ticket's thread, which starts from the context in which the ticket was written.", {
    who: 'principal',
  }),
  ticket_thread: reads('ticket.thread', "Returns a ticket's discussion, message by message, and the context that it starts from."),
  ticket_answer: custom(
    'writes',
    "Lets a provider answer the last message of a ticket's thread, from the context of the ticket. `recorded` answers only recorded questions.",
    readInputSchema(contract.ticket.answer),
    async (client, input) => {
      let text = '';
      const answer = await finished(await client.ticket.answer(input), ({ kind, delta }) => {
        if (kind === 'text' || kind === 'notice') text += delta;
      });
      return { ...answer, text };
    },
    {
      starts: true,
      async names(client, { ticketId }) {
        const { answers } = await client.ticket.thread({ ticketId: ticketId as string });
        return answers === null ? [] : [answers];
      },
    },
  ),
  ticket_start_from: reads(
    'ticket.startFrom',
    'Returns the context from which a person or agent should start on a ticket. Set `who` to your own name to get yours. Null is a fresh start; `choices` lists the alternatives.',
  ),
  ticket_events: reads(
    'ticket.events',
    `Lists requested starts: who should start on which ticket and from which context, oldest first (default \`limit\` ${defaultTickets}). Acknowledge the requests that you start on.`,
    { limit: defaultTickets },
  ),
  ticket_acknowledge: writes('ticket.acknowledge', 'Records that you took, did or dismissed a requested start. A start can be taken only once.', {
    who: 'by',
    check: ownEvent,
  }),
  ticket_import: writes(
    'ticket.import',
    "Imports tickets from GitHub's JSON of issues and reviews, or from a Markdown task list. Known tickets stay as they are.",
    { starts: true, names: async (_client, { text }) => loginsIn(parseJson(String(text))) },
  ),
  ticket_mine: custom(
    'reads',
    'Lists your tickets: those that are assigned to you, and the starts that wait for you.',
    z.strictObject({ who: z.string().min(1).describe('Your name.') }),
    async (client, { who }) => ({
      assigned: (await client.ticket.overview({ assignee: who, limit: defaultTickets })).rows,
      asked: await client.ticket.events({ who, state: ['waiting', 'taken'], limit: defaultTickets }),
    }),
    { who: 'who' },
  ),
});
