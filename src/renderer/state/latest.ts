/** Keeps the most recently used values. */
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
