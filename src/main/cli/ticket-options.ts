import { type Command, Option } from 'commander';
import { ticketStatuses, verdicts } from '../../core/contract/index.js';
import type { CallField } from './call.js';
import { UsageError } from './errors.js';

/** `--by`: the name of the author. */
export const byOption = (): Option => new Option('--by <name>', 'your name; Stemma finds your latest context by it');
/** `--context`: the commit with the author's context. */
export const contextOption = (): Option => new Option('--context <commit>', 'the commit with your context (default: the latest of --by)');
/** `--reason`: the reason for a version. */
export const reasonOption = (): Option => new Option('--reason <text>', 'the reason, which is stored with the version');

/** The id of a ticket as a person types it: `3f9a12c4` means `tkt-3f9a12c4`. */
export const ticketName = (text: string): string => (text.startsWith('tkt-') ? text : `tkt-${text}`);

/** Adds the options that both `create` and `update` accept, except for the type. */
export const withFieldOptions = (command: Command): Command =>
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
export const ticketFields: Readonly<Record<string, CallField>> = {
  ticket: ['ticketId', ticketName],
  status: ['to', choice(ticketStatuses, 'status')],
  verdict: ['verdict', choice(verdicts, 'verdict')],
  label: 'labels',
  reviewer: 'reviewers',
  dependsOn: ['dependsOn', (tickets: string[]) => tickets.map(ticketName)],
  context: 'contextId',
};
