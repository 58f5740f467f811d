/** Reproducible random numbers (mulberry32) from a seed. Each driver of a run uses its own stream. */
export class SeededRandom {
  private state: number;

  constructor(seed: number, stream: number) {
    this.state = (seed ^ Math.imul(stream + 1, 0x9e3779b9)) >>> 0;
  }

  /** Returns a number of at least 0 and less than 1. */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** Returns true with this probability. Units: percent. */
  percent(chance: number): boolean {
    return this.fraction() * 100 < chance;
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }

  /** Picks an item by weight. `items` are pairs of weight and item. */
  weighted<T>(items: readonly (readonly [number, T])[]): T {
    let rest = this.fraction() * items.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, item] of items) if ((rest -= weight) < 0) return item;
    return items.at(-1)![1];
  }
}
