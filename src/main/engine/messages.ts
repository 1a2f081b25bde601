/** What to do with each kind of message. */
export type Handlers<Message extends { readonly kind: string }, Rest extends readonly unknown[] = []> = {
  readonly [Kind in Message['kind']]: (message: Extract<Message, { readonly kind: Kind }>, ...rest: Rest) => unknown;
};

/** Gives a message to the handler of its kind. */
export function handle<Message extends { readonly kind: string }, Rest extends readonly unknown[]>(
  handlers: Handlers<Message, Rest>,
  message: Message,
  ...rest: Rest
): void {
  (handlers[message.kind as Message['kind']] as (message: Message, ...rest: Rest) => unknown)(message, ...rest);
}

/** Questions to another thread or process. Each answer comes as a message with the number of its question. */
export function openQuestions<Answer>() {
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  let count = 0;
  return {
    ask(send: (number: number) => void): Promise<Answer> {
      const question = Promise.withResolvers<Answer>();
      waiting.set(++count, question);
      send(count);
      return question.promise;
    },
    /** The open question with this number, which its answer ends. */
    take(number: number): PromiseWithResolvers<Answer> | undefined {
      const question = waiting.get(number);
      waiting.delete(number);
      return question;
    },
  };
}
