// One of several processes that append to the same box at once: DIR NAME COUNT. Says that it is ready, then waits for a line.
import { addCard, appendToBox } from '../../../src/core/cards/index.js';
import { openProject } from '../../../src/core/project/index.js';

const [dir = '', name, count] = process.argv.slice(2);
const project = openProject(dir, Date.now);
process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
for (let at = 0; at < Number(count); at++) {
  const { cardId } = addCard(project.chain, { cardId: `${name}${at}`, type: 'agent.thought', content: { kind: 'text', text: `${name} ${at}` } });
  // Every other append repeats an earlier card, as a replay does.
  appendToBox(project.chain, 'shared', at % 2 ? [cardId] : [cardId, `${name}0`]);
}
project.close();
process.exit(0);
