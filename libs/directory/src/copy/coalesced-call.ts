/**
 * Shares one asynchronous question among concurrent callers. An answer is never older than the call: callers that
 * arrive while a question is in progress share the next one. Under load, a hundred calls cost one question.
 */
export class CoalescedCall<T> {
  private running: Promise<T> | undefined;
  private next: Promise<T> | undefined;

  constructor(private readonly put: () => Promise<T>) {}

  askOnce(): Promise<T> {
    if (!this.running) return this.startQuestion();
    this.next ??= this.running
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.startQuestion();
      });
    return this.next;
  }

  private startQuestion(): Promise<T> {
    const running = this.put().finally(() => {
      if (this.running === running) this.running = undefined;
    });
    this.running = running;
    return running;
  }
}
