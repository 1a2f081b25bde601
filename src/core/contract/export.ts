import { lost, stop } from './context.js';
import { runtimes, tiers } from './kinds.js';
import { base64, contextPrefix, count, flag, formatName, line, list, most, procedure } from './scalars.js';
import * as z from './z.js';

export const redactionKinds = ['secret', 'path', 'email', 'ip'] as const;
export type RedactionKind = (typeof redactionKinds)[number];

/** Who an export is for: a person, an agent that resumes it, or a program. */
export const exportUses = ['people', 'agents', 'programs'] as const;
export type ExportUse = (typeof exportUses)[number];

export const exportFormat = z.object({
  format: formatName,
  name: z.string(),
  what: z.string(),
  use: z.enum(exportUses),
  extension: z.string(),
  contentType: z.string(),
  tier: z.enum(tiers),
  /** Whether the export can redact secrets. */
  redacts: z.boolean(),
  lossCounts: lost.lossCounts,
});
export type ExportFormat = z.output<typeof exportFormat>;

/** The redaction options of an export. `docs/redaction.md` lists the known patterns. */
const redaction = {
  redact: flag(
    'Replace secrets of known patterns, home folders and e-mail addresses with placeholders: `[secret-1]` is the same secret everywhere in one export. No list of patterns is complete: read an export before you share it.',
  ),
  redactIps: flag('Replace IP addresses too; implies `redact`. Loopback addresses and masks stay.'),
};
/** With `redact`: each placeholder and the number of its occurrences. */
const redactions = z.array(z.object({ placeholder: z.string(), kind: z.enum(redactionKinds), count }));

/** The part of a result that reports the replacements. */
export const redacted = { redactions: redactions.optional() };

const resumeFields = {
  id: contextPrefix,
  agent: z.enum(runtimes).optional().describe('The agent. The default is the one that wrote the context, or Claude Code.'),
  cwd: line.min(1).optional().describe('The working directory of the new session. The default is that of the original.'),
};
const resumed = z.object({
  agent: z.enum(runtimes),
  path: z.string(),
  cwd: z.string(),
  /** Whether the folder exists on this machine. */
  cwdExists: z.boolean(),
  sessionId: z.string(),
  /** The prompt at the end of the fork. The command passes it to the agent. */
  prompt: z.string().optional(),
  command: z.string(),
});

export const exportContract = {
  formats: procedure('Lists the formats that a context can be exported to, each with what it would lose.', {
    id: contextPrefix,
    stop: stop.optional(),
  }).returns(z.array(exportFormat)),
  context: procedure('Exports a context. With `path`, writes a new file and never overwrites one; otherwise returns the content.', {
    id: contextPrefix,
    stop: stop.optional(),
    format: formatName,
    path: line.min(1).optional().describe('The new file to write. It must not exist.'),
    ...redaction,
    dryRun: flag('Only report the size and the losses of the export: write nothing and return no content.'),
  }).returns({
    path: z.string().optional(),
    text: z.string().optional(),
    data: base64.optional(),
    bytes: count,
    format: formatName,
    tier: z.enum(tiers),
    redactions: redactions.optional(),
    ...lost,
  }),
  spans: procedure(
    'Sends a context as spans (`otlp-v1`) to an OpenTelemetry collector that the caller names. The variable `OTEL_EXPORTER_OTLP_HEADERS` adds headers, as for other exporters.',
    {
      id: contextPrefix,
      stop: stop.optional(),
      address: z
        .url({ protocol: /^https?$/ })
        .max(most.line)
        .describe('The address at which the collector receives traces, such as `http://127.0.0.1:4318/v1/traces`.'),
      ...redaction,
    },
  ).returns({ address: z.string(), bytes: count, tier: z.enum(tiers), redactions: redactions.optional(), ...lost }),
  comparison: procedure(
    'Exports a comparison of contexts as Markdown: two contexts with each differing entry, or up to 16 side by side. With `path`, writes a new file and never overwrites one; otherwise returns the text.',
    {
      ids: list(contextPrefix, 16).min(2).describe('The commits to compare.'),
      stop: stop.optional(),
      path: line.min(1).optional().describe('The new file to write. It must not exist.'),
      ...redaction,
    },
  ).returns({ path: z.string().optional(), text: z.string().optional(), bytes: count, redactions: redactions.optional() }),
  resume: procedure(
    'Writes a context as a new session into the folder where an agent looks for its sessions, and returns the command that resumes it. If a fork ends with a prompt, the session is written without it: the command passes the prompt to the agent, which runs it at once. Never overwrites a file.',
    {
      ...resumeFields,
      dryRun: flag('Only report where the session would be and whether its folder exists: write nothing.'),
    },
  ).returns(resumed),
  continue: procedure(
    'Writes the session as `export.resume` does and opens a terminal on this machine that runs the command. The folder must exist. `terminal` is null if no terminal program was found: run the command by hand.',
    resumeFields,
  ).returns(resumed.extend({ terminal: z.string().nullable() })),
};
