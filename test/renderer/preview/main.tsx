import { mount } from '../../../src/renderer/app';
import { fakeCarrier } from './fake-engine';

// The window with a fake engine. The address sets size, delay and failures: ?commits=100000&failing=context.outline
const asked = new URLSearchParams(location.search);
const number = (name: string): number | undefined => (asked.has(name) ? Number(asked.get(name)) : undefined);
const [commits, entriesPerCommit, delay] = [number('commits'), number('entries'), number('delay')];
mount(
  fakeCarrier({
    ...(commits !== undefined && { commits }),
    ...(entriesPerCommit !== undefined && { entriesPerCommit }),
    ...(delay !== undefined && { delay }),
    failing: asked.get('failing')?.split(',') ?? [],
    empty: asked.has('empty'),
  }),
);
