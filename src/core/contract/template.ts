import { stop } from './context.js';
import { artifactRef, assembled, base64, contextId, contextPrefix, formatName, most, name, procedure, timestamp } from './scalars.js';
import * as z from './z.js';

const template = z.object({
  name,
  version: z.number().int().min(1),
  /** `name@version`, as in the field `template` of a commit. */
  template: name,
  artifactRef,
  contentType: z.string(),
  author: z.string().optional(),
  createdAt: timestamp,
});
export type TemplateRecord = z.output<typeof template>;

/** Templates: kinds of agents. A template has a name, versions and a content per version. A commit may also name any other string as its template. */
export const templateContract = {
  put: procedure('Stores the next version of a template. If the content equals that of the last version, returns the last version.', {
    name: name.describe('The name of the template.'),
    data: base64.optional().describe('The content as base64. Give either `data` or `text`.'),
    text: z.string().max(most.content).optional().describe('The content as text.'),
    contentType: z.string().min(1).max(200).optional().describe('The media type of the content.'),
    author: name.optional().describe('The author of this version.'),
  }).returns(template),
  get: procedure('Returns a template, by `name@version` or the last version of a name.', {
    template: name.describe('`name@version`, or a name for its last version.'),
  }).returns(template),
  list: procedure('Lists the versions of one template or of all.', { name: name.optional().describe('Only versions of this template.') }).returns(
    z.array(template),
  ),
};

/** The context that an agent starts from, and how it starts. */
const instance = z.object({
  template: name,
  templateRef: artifactRef.nullable(),
  context: contextId.nullable(),
  start: z.enum(['fresh', 'resume', 'fork']),
  ...assembled,
});

export const instantiateContract = procedure(
  'Builds the context that an agent starts from. Without `context`, the agent starts fresh; with the tip of a chain, it resumes; with an earlier commit, it forks.',
  {
    template: name.describe('`name@version`, a name for its last version, or any other string.'),
    context: contextPrefix.nullable().describe('The commit to start from, or null for a fresh start.'),
    format: formatName.optional().describe("The format of the result. The default is the context's own."),
    stop: stop.optional(),
    principal: name.optional().describe('The person or agent that starts the new agent.'),
    machine: name.optional().describe('The machine that the agent runs on.'),
  },
).returns(instance);
