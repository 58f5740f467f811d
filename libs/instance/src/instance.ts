import { Injectable } from '@nestjs/common';
import type { InstanceAnswer } from '@rookery/contracts';
import { isOnFor } from './features';
import type { Asked, FeatureName } from './features';

/** As long as admin was never reached: whatever counts when nobody sets anything. */
const DEFAULTS: InstanceAnswer = { version: -1, features: {} };

/**
 * What administrators set for the whole instance, as this process knows it: at most a second old, and the last known
 * while admin cannot be reached. Asking costs no call. Source: ADR 0180.
 */
@Injectable()
export class Instance {
  private known = DEFAULTS;

  /** Of what is known; below 0 until admin was reached. */
  get version(): number {
    return this.known.version;
  }

  /** Whether a feature is on for any of those that it is asked for. */
  isOn(name: FeatureName, asked: Asked): boolean {
    return isOnFor(name, this.known.features[name], asked, Math.random());
  }

  /** Replaces all that is known. */
  take(answer: InstanceAnswer): void {
    this.known = answer;
  }
}
