/** Lets one loop sleep until it is nudged; a nudge while it works makes the next sleep end at once. */
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
