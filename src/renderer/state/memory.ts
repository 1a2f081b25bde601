import isEqual from 'fast-deep-equal';

interface Known<T> {
  readonly data: T;
  /** The project revision at which the answer was loaded. */
  readonly revision: number;
}

/**
 * How long an answer is valid. An invalid answer stays in view until the new answer arrives. `always`: the answer depends only on commits, which
 * never change. `untilChange`: it is valid until the project changes. `never`: it depends on data outside the project.
 */
type Validity = 'always' | 'untilChange' | 'never';

interface Running<T> {
  readonly answer: Promise<T>;
  readonly controller: AbortController;
  askers: number;
}

/**
 * A cache of the latest answers to one kind of question, so that a reopened view shows them at once. Parts of the window that ask the same question
 * at the same time share one call, which is canceled when no part waits for it.
 */
export class AnswerMemory<T> {
  readonly #known: Latest<Known<T>>;
  readonly #running = new Map<string, Running<T>>();

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

  isValid(key: string, revision: number): boolean {
    const known = this.#known.peek(key);
    return known !== undefined && (this.valid === 'always' || (this.valid === 'untilChange' && known.revision === revision));
  }

  /** Asks the question and caches the answer. Joins a running call for the same question. */
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
    // Keeps the old object if the new answer is equal, so that nothing is computed or drawn again.
    const data = old !== undefined && isEqual(old, loaded) ? old : loaded;
    this.#known.set(key, { data, revision });
    return data;
  }

  /** Asks until an answer has the newest change, and tells each one. No change cancels a call: a slow list would otherwise never appear. */
  async follow(
    key: string,
    revision: () => number,
    ask: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
    tell: (data: T) => void,
  ): Promise<void> {
    for (let at = revision(); !this.isValid(key, at); at = revision()) {
      tell(await this.ask(key, at, ask, signal));
      if (signal.aborted || revision() === at) return;
    }
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

export class Latest<T> {
  readonly #kept = new Map<string, T>();
  constructor(private readonly limit: number) {}

  /** Returns a kept value without counting as use. */
  peek(key: string): T | undefined {
    return this.#kept.get(key);
  }

  get(key: string, make: () => T): T {
    const value = this.#kept.get(key) ?? make();
    this.set(key, value);
    return value;
  }

  set(key: string, value: T): void {
    this.#kept.delete(key);
    this.#kept.set(key, value);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > this.limit && !oldest.done) this.#kept.delete(oldest.value);
  }

  forget(key: string): void {
    this.#kept.delete(key);
  }
}
