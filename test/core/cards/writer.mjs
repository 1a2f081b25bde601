// One of several processes that append to the same box at once: DIR NAME COUNT. Says that it is ready, then waits for a line.
import { registerHooks } from 'node:module';

// The build makes this module. A writer exports nothing.
const exportedPage = 'data:text/javascript,export const script = "", style = "";';
registerHooks({
  resolve: (name, context, next) =>
    name === 'virtual:exported-page'
      ? { url: exportedPage, shortCircuit: true }
      : next(name.startsWith('.') && name.endsWith('.js') && context.parentURL?.endsWith('.ts') ? `${name.slice(0, -3)}.ts` : name, context),
});
const { openProject } = await import('../../../src/core/project/index.ts');
const { addCard, appendToBox } = await import('../../../src/core/cards/index.ts');

const [dir, name, count] = process.argv.slice(2);
const project = openProject(dir, Date.now);
console.log('ready');
await new Promise((resolve) => process.stdin.once('data', resolve));
for (let at = 0; at < Number(count); at++) {
  const { cardId } = addCard(project.chain, { cardId: `${name}${at}`, type: 'agent.thought', content: { kind: 'text', text: `${name} ${at}` } });
  // Every other append repeats one that is there, as a replay does.
  appendToBox(project.chain, 'shared', at % 2 ? [cardId] : [cardId, `${name}0`]);
}
project.close();
process.exit(0);
