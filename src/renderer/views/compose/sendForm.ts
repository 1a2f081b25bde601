import type { ComposedMessage } from '../../../core/contract/index.js';
import { modelField, providerField } from '../../forms';
import { type FormSpec, givenIn, textIn } from '../../state';
import { divided } from './send';
import type { useSending } from './useSending';

/** The form that asks for the model and the question to send with the composition. */
export function sendForm(messages: readonly ComposedMessage[], send: ReturnType<typeof useSending>['send']): FormSpec {
  const { before, question } = divided(messages);
  return {
    title: 'Send this composition',
    intro: 'The messages start a new chain, exactly as they are shown. The reply is stored as a commit. The original stays as it is.',
    fields: [
      providerField,
      modelField(),
      { name: 'text', label: 'Question', kind: 'long', required: true, hint: 'The last message of the composition.' },
    ],
    start: { provider: '', model: '', text: question },
    action: 'Send',
    submit: (values) => send({ before, question: textIn(values, 'text'), provider: textIn(values, 'provider'), model: givenIn(values, 'model') }),
  };
}
