/** Lets one loop sleep until it is woken; a wake-up during work ends the next sleep at once. */
export class Wake {
  private isNudged = false;
  private wakeUp: (() => void) | null = null;

  nudge(): void {
    this.isNudged = true;
    this.wakeUp?.();
  }

  /** Units: milliseconds. */
  async sleep(ms: number): Promise<void> {
    if (!this.isNudged) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.wakeUp = null;
    this.isNudged = false;
  }
}
