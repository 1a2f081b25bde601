import { live, writes } from './procedure.js';

export const replicaRouter = {
  list: live.replica.list.handler(({ context: { session } }) => session.project().replicas.list()),
  set: writes.replica.set.handler(async ({ input: { name, place, takes, credentials }, context: { session } }) => {
    const { replicas } = session.project();
    await replicas.set(name, { place, takes: takes ?? 'replicate', credentials });
    return replicas.list();
  }),
  remove: writes.replica.remove.handler(({ input, context: { session } }) => {
    const { replicas } = session.project();
    replicas.remove(input.name);
    return replicas.list();
  }),
  replicate: writes.replica.replicate.handler(async ({ context: { session } }) => {
    const { problems, ...done } = await session.project().replicas.replicate();
    return { ...done, problems: [...problems] };
  }),
};
