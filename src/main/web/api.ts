import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MessagePort } from 'node:worker_threads';
import { createORPCClient, ORPCError, safe } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import { type AnyContractProcedure, isContractProcedure } from '@orpc/contract';
import { type ConditionalSchemaConverter, OpenAPIGenerator } from '@orpc/openapi';
import { OpenAPIHandler } from '@orpc/openapi/node';
import { type AnyRouter, os } from '@orpc/server';
import { ZodToJsonSchemaConverter } from '@orpc/zod/zod4';
import { attempt } from '../../core/base/index.js';
import { contract, damageHeader, z } from '../../core/contract/index.js';
import { readBody } from '../connections/index.js';
import { type ContractClient, maxFrameBytes } from '../launch/index.js';

type Client = { readonly client: ContractClient };

/** A router of all procedures, answered by the engine behind `client`, which checks inputs and outputs. Its errors pass unchanged. */
function mirror(node: object): AnyRouter {
  if (isContractProcedure(node))
    return os
      .$context<Client>()
      .route((node as AnyContractProcedure)['~orpc'].route)
      .handler(({ context, path, input, signal }) => passOn(context.client, path, input, signal)) as AnyRouter;
  return Object.fromEntries(Object.entries(node).map(([name, below]) => [name, mirror(below)]));
}

type Call = (input: unknown, options: { signal?: AbortSignal | undefined }) => Promise<unknown>;

async function passOn(client: ContractClient, path: readonly string[], input: unknown, signal: AbortSignal | undefined): Promise<unknown> {
  const call = path.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], client) as Call;
  try {
    return await call(input, { signal });
  } catch (error) {
    if (error instanceof RangeError) throw new ORPCError('BAD_REQUEST', { message: 'The input is nested too deeply.', data: { field: 'input' } });
    throw error;
  }
}

/** The read endpoints of cards and boxes have the addresses of the public system, which has no prefix. */
const rootReads = '/projects/';

const handler = new OpenAPIHandler<Client>(mirror(contract) as never);
let specification: Promise<string> | undefined;

/**
 * Answers a call under `/api`, such as `POST /api/context/show` with the input as JSON, and the reads under `/projects/`. Each request is a separate
 * session on the project that the header `stemma-project` names (percent-encoded), else on the project that the host was started with. A stream is
 * sent as server-sent events. `port` connects to the engine and is closed with the response.
 */
export async function answerApi(request: IncomingMessage, response: ServerResponse, port: MessagePort, startupProject: string | null): Promise<void> {
  const client: ContractClient = createORPCClient(
    new RPCLink({
      port: port as never,
      clientInterceptors: [
        async ({ next }) => {
          const answer = await next();
          const damaged = answer.headers[damageHeader];
          if (response.headersSent) return answer;
          if (damaged === undefined) response.removeHeader(damageHeader);
          else response.setHeader(damageHeader, damaged);
          return answer;
        },
      ],
    }),
  );
  response.on('close', () => port.close());
  port.start();
  const dir = projectOf(request, startupProject);
  if (dir instanceof ORPCError) return refuse(response, dir);
  if (dir !== null) {
    const [refusal] = await safe(client.project.open({ dir }));
    if (refusal) return refuse(response, asError(refusal));
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const [refusal, input] = await safe(readInput(request));
    if (refusal) return refuse(response, asError(refusal));
    // oRPC reads a body that was already consumed from this property.
    Object.assign(request, { body: input === undefined ? {} : input });
  }
  const isRoot = request.url?.startsWith(rootReads);
  const { matched } = await handler.handle(request, response, { ...(!isRoot && { prefix: '/api' as const }), context: { client } });
  if (matched) return;
  const message = `${request.method} ${request.url} does not exist. /api/openapi.json lists all calls.`;
  refuse(response, new ORPCError('NOT_FOUND', { message, data: { id: request.url } }));
}

/** The folder of the project that a request names, null if it names none, or the error if its header is invalid. */
function projectOf({ headers }: IncomingMessage, startupProject: string | null): string | null | ORPCError<string, unknown> {
  const named = headers['stemma-project'];
  if (typeof named !== 'string') return startupProject;
  const message = `The header stemma-project is not percent-encoded UTF-8: ${JSON.stringify(named)}.`;
  return attempt(() => decodeURIComponent(named)) ?? new ORPCError('BAD_REQUEST', { message, data: { field: 'stemma-project' } });
}

const asError = (error: Error): ORPCError<string, unknown> =>
  error instanceof ORPCError ? error : new ORPCError('INTERNAL_SERVER_ERROR', { message: error.message });

function refuse(response: ServerResponse, error: ORPCError<string, unknown>): void {
  // The connection is closed, because the unread rest of a body would be taken for the next request.
  response.writeHead(error.status, { 'content-type': 'application/json; charset=utf-8', ...(error.status === 413 && { connection: 'close' }) });
  response.end(JSON.stringify(error.toJSON()));
}

const ofMade = new ZodToJsonSchemaConverter();
const converter: ConditionalSchemaConverter = {
  condition: (schema) => ofMade.condition(z.madeSchema(schema)),
  convert: (schema, options) => ofMade.convert(z.madeSchema(schema), options),
};

/** The contract as an OpenAPI document, as JSON text. */
export function openApi(version: string): Promise<string> {
  specification ??= new OpenAPIGenerator({ schemaConverters: [converter] })
    .generate(contract, {
      info: { title: 'Stemma', version, description: 'Agent histories as branching chains of context.' },
      servers: [{ url: '/api' }],
      components: {
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'The content of the file of `stemma web --bearer-file`.' } },
      },
      security: [{ bearer: [] }],
    })
    .then((document) => JSON.stringify(document));
  return specification;
}

const badInput = (message: string, status = 400): ORPCError<'BAD_REQUEST', { field: string }> =>
  new ORPCError('BAD_REQUEST', { message, status, data: { field: 'input' } });

/** Reads the JSON input of a request; undefined if empty. @throws BAD_REQUEST: too large (413), another type (415), or not JSON in UTF-8 */
async function readInput(request: IncomingMessage): Promise<unknown> {
  const tooLarge = (size: number): Error =>
    badInput(`The body has ${size} bytes or more, and ${maxFrameBytes} are allowed. Larger content goes in through the stemma command.`, 413);
  const type = request.headers['content-type'];
  const bytes = await readBody(request, maxFrameBytes, tooLarge);
  if (bytes.length === 0) return undefined;
  if (type !== undefined && !/^application\/json\s*(;|$)/i.test(type))
    throw badInput('Send the input as JSON, with Content-Type: application/json.', 415);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw badInput(`The body is not JSON in UTF-8: ${(error as Error).message}`);
  }
}
