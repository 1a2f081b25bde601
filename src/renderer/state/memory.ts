import isEqual from 'fast-deep-equal';
import { Latest } from './latest';

/** What a memory keeps of one question. */
interface Known<T> {
  readonly data: T;
  /** The revision of the project for which the answer is valid. */
  readonly revision: number;
}

/**
 * How long an answer is valid. It stays in view in any case until the new one arrives. `always`: it depends on commits only, which never
 * change. `untilChange`: until the project changes. `never`: it depends on something outside the project.
 */
type Validity = 'always' | 'untilChange' | 'never';

interface Running<T> {
  readonly answer: Promise<T>;
  readonly controller: AbortController;
  askers: number;
}

/**
 * The latest answers to one kind of question, so that a view that is opened again shows them at once. Two parts of the window that
 * ask the same at the same time share one call, which is canceled when nobody waits for it.
 */
export class Memory<T> {
  readonly #known: Latest<Known<T>>;
  readonly #running = new Map<string, Running<T>>();

  /** `most` answers are kept, those used last. */
  constructor(
    most: number,
    private readonly valid: Validity = 'untilChange',
  ) {
    this.#known = new Latest(most);
  }

  /** The latest answer, even if it is no longer valid. */
  get(key: string): T | undefined {
    return this.#known.peek(key)?.data;
  }

  /** Whether the answer is known and need not be loaded again. */
  isValid(key: string, revision: number): boolean {
    const known = this.#known.peek(key);
    return known !== undefined && (this.valid === 'always' || (this.valid === 'untilChange' && known.revision === revision));
  }

  /** Asks and keeps the answer. If the same question is being answered, it waits for that answer. */
  async ask(key: string, revision: number, ask: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const name = `${revision}\n${key}`;
    const running = this.#running.get(name) ?? this.#start(name, ask);
    running.askers++;
    signal.addEventListener('abort', () => {
      running.askers--;
      if (running.askers > 0 || this.#running.get(name) !== running) return;
      this.#running.delete(name);
      running.controller.abort();
    });
    const loaded = await running.answer;
    const old = this.#known.peek(key)?.data;
    // An equal answer stays the same object, so that nothing is computed or drawn again.
    const data = old !== undefined && isEqual(old, loaded) ? old : loaded;
    this.#known.set(key, { data, revision });
    return data;
  }

  #start(name: string, ask: (signal: AbortSignal) => Promise<T>): Running<T> {
    const controller = new AbortController();
    const done = (): void => {
      if (this.#running.get(name) === running) this.#running.delete(name);
    };
    const running: Running<T> = { answer: ask(controller.signal), controller, askers: 0 };
    running.answer.then(done, done);
    this.#running.set(name, running);
    return running;
  }
}
