const performer = 'For programs that run an agent themselves. A person writes into a space or a turn with the forms of the window.';
const writer = 'For agents and scripts that write their own content. The window imports, forks and edits instead.';
const wireReads =
  'Read endpoints for other programs, in the shape that those expect. The window reads the same rows by card.get, box.get and box.cards.';
const compose = 'For programs that compose their own prompts. The window shows the result with compose.preview.';
const texts = 'For programs that render their own timeline. The window shows the result with timeline.transcript and timeline.messages.';
const fewer = 'The window uses a procedure that returns more: ';
const missing = 'The window has no place for it yet. The command line has: ';
const machinery = 'Called by Stemma itself or by its hooks, never by a person.';

/** Procedures that the window does not call, each with the reason. */
export const engineOnly: Readonly<Record<string, string>> = {
  'space.lines': 'For agents outside of a run. The window shows the messages with space.messages.',
  'request.series': `${fewer}usage.series.`,
  'usage.fillers': 'For scripts that read each filler. The window shows their sums with usage.largest.',
  'analysis.query': 'For programs that ask without SQL. The window and the command line ask with analysis.sql.',
  'blame.commit': 'For hooks and scripts of git. The window leads from a turn to its files instead.',
  'blame.file': `${missing}stemma blame.`,
  'blame.trace': `${missing}stemma blame --trace.`,
  'blame.notes': `${missing}stemma blame --notes.`,
  'evidence.pack': `${missing}stemma evidence.`,
  'evidence.verify': `${missing}stemma verify, and the page in each pack.`,
  'agent.get': `${fewer}handover.list.`,
  'artifact.put': writer,
  'box.batch': `${fewer}box.list.`,
  'card.batch': `${fewer}box.cards.`,
  'compose.body': compose,
  'compose.collect': compose,
  'compose.messages': compose,
  'context.checkpoint': writer,
  'compose.patch': compose,
  'compose.shorten': compose,
  'context.tips': `${fewer}context.graph.`,
  'handover.packWithInstruction': `${fewer}handover.pack, whose rules pack an instruction and boxes.`,
  'import.detect': `${fewer}library.sessions for what is found, import.run for what is named.`,
  'projects.box': wireReads,
  'projects.boxCards': wireReads,
  'projects.boxes': wireReads,
  'projects.card': wireReads,
  'projects.cards': wireReads,
  'request.capture': machinery,
  'run.get': `${fewer}run.list.`,
  'run.read': performer,
  'run.tick': machinery,
  'ticket.list': `${fewer}ticket.overview.`,
  'ticket.startFrom': performer,
  'timeline.block': texts,
  'timeline.render': texts,
  'session.diagnose': `${fewer}session.repair, which lists each change first.`,
  'turn.list': `${fewer}turn.steps.`,
  'turn.compare': `${fewer}turn.compareMany and turn.sides.`,
};
