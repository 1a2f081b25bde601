/** A step of the story: words that end a turn, or a call of one of Stemma's tools. */
export interface Step {
  readonly text?: string;
  readonly call?: readonly [name: string, input: object];
  /** The call reads the thread of the finding: its reply is asked for again until somebody has answered there. */
  readonly waits?: true;
}

export interface ReviewStory {
  /** Set once the tickets exist. */
  readonly tickets: { task: string; finding: string };
  /** The first request of each task, by its assignee and its first word, such as `@rev Review`. */
  readonly bodies: Readonly<Record<string, string>>;
  /** What the model does that was told `said`, after this many replies, with a request of this body. */
  next(said: string, replies: number, body: string): Step;
}

export const reviewers = ['@rev', '@second'];

/**
 * What every model of a review says: the author works, one of two reviewers finds a bug, the author asks about it, it is explained from the
 * context of that time, addressed, verified and closed.
 */
export function reviewStory(): ReviewStory {
  const tickets = { task: '', finding: '' };
  const bodies: Record<string, string> = {};
  let isSecondRound = false;
  const move = (to: string, more: object = {}): Step => ({ call: ['ticket_transition', { ticketId: tickets.task, to, ...more }] });
  const verdict = (given: string): Step => ({ call: ['ticket_verdict', { ticketId: tickets.task, verdict: given }] });
  const inOrder = (replies: number, ...steps: readonly Step[]): Step => steps[Math.min(replies, steps.length - 1)] as Step;
  const address = (replies: number, body: string): Step => {
    if (replies === 0) return { call: ['ticket_discuss', { ticketId: tickets.finding, text: 'Why is it repeated?' }] };
    if (!body.includes('It counts from zero.')) return { call: ['ticket_thread', { ticketId: tickets.finding }], waits: true };
    if (!body.includes('Counted from one.'))
      return { call: ['ticket_transition', { ticketId: tickets.finding, to: 'closed', resolution: 'Counted from one.' }] };
    if (isSecondRound) return { text: 'Addressed.' };
    isSecondRound = true;
    return move('review', { reviewers });
  };
  const next = (said: string, replies: number, body: string): Step => {
    const task = /^You are (@\w+)\. (\w+)/.exec(said)?.slice(1).join(' ') ?? said;
    bodies[task] ??= body;
    switch (task) {
      case '@author Work':
        return inOrder(replies, move('in_progress', { assignee: '@author' }), move('review', { reviewers }), { text: 'The retries work.' });
      case '@rev Review': {
        if (isSecondRound) return inOrder(replies, verdict('approved'), { text: 'Fine now.' });
        const finding = { title: 'The first attempt is repeated', type: 'review_finding', parent: tickets.task };
        const look: Step = { call: ['ticket_get', { ticketId: tickets.task }] };
        return inOrder(replies, look, { call: ['ticket_create', finding] }, verdict('changes_requested'), { text: 'I found a bug.' });
      }
      case '@second Review':
        return inOrder(replies, verdict('approved'), { text: 'Fine.' });
      case '@author All':
        return inOrder(replies, move(isSecondRound ? 'closed' : 'in_progress', { resolution: 'Fixed.' }), { text: 'Decided.' });
      case '@author Address':
        return address(replies, body);
      case 'Why is it repeated?':
        return { text: 'It counts from zero.' };
      default:
        return { text: 'The resolution holds.' };
    }
  };
  return { tickets, bodies, next };
}

interface Said {
  readonly type?: string;
  readonly role?: string;
  readonly content?: string | readonly { readonly text?: string }[];
}

/** What a model was told last, and the number of its replies since. Agents add surroundings between tags, which are no message. */
export function standing(body: object): { readonly said: string; readonly replies: number } {
  const { messages, input } = body as { readonly messages?: readonly Said[]; readonly input?: readonly Said[] };
  const items = messages ?? input ?? [];
  const words = items.map(({ role, content }) => {
    if (role !== 'user') return undefined;
    const texts = typeof content === 'string' ? [content] : (content ?? []).map(({ text }) => text);
    return texts.findLast((text) => text !== undefined && !text.startsWith('<'));
  });
  const at = words.findLastIndex((text) => text !== undefined);
  const isReply = ({ type, role }: Said): boolean => role === 'assistant' || type === 'function_call';
  return { said: words[at] ?? '', replies: items.slice(at).filter(isReply).length };
}
