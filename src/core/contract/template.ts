import { oc } from '@orpc/contract';
import { z } from 'zod';
import { stop, tiers } from './context.js';
import { artifactRef, base64, contextId, contextPrefix, count, formatName, name, timestamp } from './scalars.js';

const template = z.object({
  name,
  version: z.number().int().min(1),
  /** `name@version`, as commits carry it. */
  template: name,
  artifactRef,
  contentType: z.string(),
  author: z.string().optional(),
  createdAt: timestamp,
});
export type TemplateRecord = z.output<typeof template>;

/** What kind of agent: versions of a name, each with its content. A commit's template may be any other string as well. */
export const templateContract = {
  /** The next version of the name; the content of its last version again is that version. */
  put: oc
    .input(
      z.object({
        name,
        data: base64.optional(),
        text: z.string().optional(),
        contentType: z.string().min(1).max(200).optional(),
        author: name.optional(),
      }),
    )
    .output(template),
  /** By `name@version`, or the last version of the name. */
  get: oc.input(z.object({ template: name })).output(template),
  list: oc.input(z.object({ name: name.optional() })).output(z.array(template)),
};

/** What an agent is started from: fresh, resumed and forked are one call with different contexts. */
const instance = z.object({
  template: name,
  templateRef: artifactRef.nullable(),
  context: contextId.nullable(),
  start: z.enum(['fresh', 'resume', 'fork']),
  artifactRef,
  format: z.string(),
  contentType: z.string(),
  tier: z.enum(tiers),
  messageCount: count,
  tokenCount: count,
  cached: z.boolean(),
  commits: z.array(contextId),
});

export const instantiateContract = oc
  .input(
    z.object({
      /** `name@version`, a name (its last version), or any other string. */
      template: name,
      context: contextPrefix.nullable(),
      format: formatName.optional(),
      stop: stop.optional(),
      principal: name.optional(),
      machine: name.optional(),
    }),
  )
  .output(instance);
