/**
 * A question that many ask at once. An answer is never older than the call: callers that come while one is under way share
 * the next, so that under load a hundred of them cost one.
 */
export class SharedQuestion<T> {
  private running: Promise<T> | undefined;
  private next: Promise<T> | undefined;

  constructor(private readonly put: () => Promise<T>) {}

  ask(): Promise<T> {
    if (!this.running) return this.launch();
    this.next ??= this.running
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.launch();
      });
    return this.next;
  }

  private launch(): Promise<T> {
    const running = this.put().finally(() => {
      if (this.running === running) this.running = undefined;
    });
    this.running = running;
    return running;
  }
}
