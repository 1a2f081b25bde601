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
  readonly #known = new Map<string, Known<T>>();
  readonly #running = new Map<string, Running<T>>();

  /** `most` answers are kept, those used last. */
  constructor(
    private readonly most: number,
    private readonly valid: Validity = 'untilChange',
  ) {}

  /** The answer that is known, valid or not. */
  get(key: string): T | undefined {
    return this.#known.get(key)?.data;
  }

  /** Whether the answer is known and need not be loaded again. */
  isValid(key: string, revision: number): boolean {
    const known = this.#known.get(key);
    return known !== undefined && (this.valid === 'always' || (this.valid === 'untilChange' && known.revision === revision));
  }

  /** Asks, or joins the same question that is being answered, and keeps the answer. */
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
    const old = this.#known.get(key)?.data;
    // An equal answer stays the same object, so that nothing is computed or drawn again.
    const data = old !== undefined && JSON.stringify(old) === JSON.stringify(loaded) ? old : loaded;
    this.#keep(key, { data, revision });
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

  #keep(key: string, known: Known<T>): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    const oldest = this.#known.keys().next();
    if (this.#known.size > this.most && !oldest.done) this.#known.delete(oldest.value);
  }
}
