import { type Command, Option } from 'commander';
import { UsageError } from './errors.js';

/** The author and the author's context. With `by` alone, the engine finds the author's latest context. */
export interface AuthorOptions {
  by?: string;
  context?: string;
}

/** The fields of a ticket that both `create` and `update` accept. */
export interface FieldOptions extends AuthorOptions {
  type?: string;
  body?: string;
  parent?: string;
  label?: string[];
  dependsOn?: string[];
  assignee?: string;
}

/** `--by`: the name of the author. */
export const byOption = (): Option => new Option('--by <name>', 'your name; Stemma finds your latest context by it');
/** `--context`: the commit with the author's context. */
export const contextOption = (): Option => new Option('--context <commit>', 'the commit with your context (default: the latest of --by)');
/** `--reason`: the reason for a version. */
export const reasonOption = (): Option => new Option('--reason <text>', 'the reason, which is stored with the version');

/** The id of a ticket as a person types it: `3f9a12c4` means `tkt-3f9a12c4`. */
export const ticketName = (text: string): string => (text.startsWith('tkt-') ? text : `tkt-${text}`);

/** Adds the options of `FieldOptions`, except for the type. */
export const withFieldOptions = (command: Command): Command =>
  command
    .addOption(new Option('--body <text>', 'the text of the ticket'))
    .addOption(new Option('--parent <ticket>', 'the parent ticket').argParser(ticketName))
    .addOption(new Option('--label <label...>', 'labels'))
    .addOption(new Option('--depends-on <ticket...>', 'tickets that must be closed first'))
    .addOption(new Option('--assignee <name>', 'who works on it'))
    .addOption(byOption())
    .addOption(contextOption());

/** The options as fields of the contract. */
export const readFields = ({ type, body, parent, label, dependsOn, assignee, by, context }: FieldOptions) => ({
  ...{ type, body, parent, assignee, by },
  labels: label,
  dependsOn: dependsOn?.map(ticketName),
  contextId: context,
});

/** One of the allowed words. @throws UsageError that lists them. */
export function choice<T extends string>(allowed: readonly T[], text: string, what: string): T {
  const found = allowed.find((each) => each === text);
  if (found === undefined) throw new UsageError(`${text} is not a ${what}. Allowed: ${allowed.join(', ')}.`);
  return found;
}
