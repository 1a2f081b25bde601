import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addPriceCommands } from '../../src/main/cli/prices.js';

test.each([
  ['--input 1 --output 2', 'Prices need --set MODEL'],
  ['--from 2026-01-01', '--from needs --set or --remove'],
  ['--remove m --set n --input 1 --output 2', '--remove stands without --set'],
])('[N25] stemma prices %s is refused, because part of it would be ignored', async (options, why) => {
  const program = new Command().exitOverride();
  addPriceCommands(program);
  await expect(program.parseAsync(['prices', ...options.split(' ')], { from: 'user' })).rejects.toThrow(why);
});
