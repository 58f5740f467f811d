import { Injectable } from '@nestjs/common';

/** The narrow moments in which a crash must lose and double nothing. */
export type FaultPoint = 'relay.before-mark' | 'consumer.before-ack';

/**
 * Places where drills and tests may stop the process or hold it up; nothing happens unless a step was set.
 * Source: reference reliability 12.2.
 */
@Injectable()
export class FaultPoints {
  private readonly steps = new Map<FaultPoint, () => Promise<void> | void>();

  on(point: FaultPoint, step: () => Promise<void> | void): void {
    this.steps.set(point, step);
  }

  async reach(point: FaultPoint): Promise<void> {
    await this.steps.get(point)?.();
  }
}
