import { Injectable } from '@nestjs/common';

/** Moments at which a crash must neither lose nor duplicate events. */
export type FaultPoint = 'relay.before-mark' | 'consumer.before-ack';

/**
 * Points at which drills and tests can stop or delay the process; without a configured step nothing happens.
 * Source: reference reliability 12.2.
 */
@Injectable()
export class FaultPoints {
  private readonly steps = new Map<FaultPoint, () => Promise<void> | void>();

  setStep(point: FaultPoint, step: () => Promise<void> | void): void {
    this.steps.set(point, step);
  }

  async reachPoint(point: FaultPoint): Promise<void> {
    await this.steps.get(point)?.();
  }
}
