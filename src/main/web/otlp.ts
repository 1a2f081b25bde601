import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import { finished } from '../../core/base/index.js';
import type { ContractClient } from '../launch/index.js';
import { answerExport, openReceiver, type Receiver } from '../otlp/index.js';
import { line, say } from '../terminal/index.js';

/** Receives spans on the web host, into the project that it was started with, else into the person's own. */
export type SpanDoor = ReturnType<typeof openSpanDoor>;

/** `connect` opens a connection to the engine, and `dataDir` is Stemma's own folder. Nothing starts before the first export. */
export function openSpanDoor(connect: () => Promise<MessagePort>, dataDir: string, project: string | null) {
  let opened: Promise<{ readonly receiver: Receiver; readonly port: MessagePort }> | undefined;
  const open = async () => {
    const port = await connect();
    const client: ContractClient = createORPCClient(new RPCLink({ port: port as never }));
    port.start();
    await client.project.open({ dir: project ?? (await client.library.home({})).dir });
    const receiver = openReceiver({
      folder: join(dataDir, 'received', (await client.project.info({})).projectId),
      importFile: async (path) => finished(await client.import.run({ paths: [path] })),
      problem: (error) => say(line`stemma: spans were not stored: ${error.message}`),
    });
    return { receiver, port };
  };
  return {
    async answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
      // If the project could not be opened, the next export tries again.
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      await answerExport(request, response, path, (await opened).receiver);
    },
    async close(): Promise<void> {
      const running = await opened?.catch(() => undefined);
      await running?.receiver.flush();
      running?.port.close();
    },
  };
}
