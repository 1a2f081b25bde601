import { expect, test } from 'vitest';
import { atOnce } from '../../../../src/core/base/index.js';
import { checkpoint } from '../../../../src/core/chain/index.js';
import { catchUpAnswers } from '../../../../src/core/requests/index.js';
import { storedAnswers } from '../../../../src/core/requests/rebuild/stored-answers.js';
import { answer, prompt } from '../../../support/claude-lines.js';
import { emptyChain } from '../../../support/project.js';

test('[R1] stored answers name their records as the agent wrote them', () => {
  const chain = emptyChain();
  const records = ['91f57cb6-a0d3-4af2-9cbe-733cbbb88409', '91F57CB6-A0D3-4AF2-9CBE-733CBBB88409', 'a3'];
  for (const [at, record] of records.entries())
    checkpoint(chain, {
      parent: null,
      type: 'delta',
      format: 'claude-code-v1',
      text: prompt(`u${at}`, 'say something') + answer(record, 'something', { parent: `u${at}` }),
      template: 'claude-code',
      checkpoint: 'turn_boundary',
    });
  atOnce(catchUpAnswers(chain));
  const stored = storedAnswers(chain, undefined, new Set())?.page(0, 10) ?? [];
  expect(stored.map(({ record }) => record).toSorted()).toEqual(records.toSorted());
  expect(chain.db.column('SELECT typeof(record) FROM usageAnswer ORDER BY 1')).toEqual(['blob', 'text', 'text']);
});
