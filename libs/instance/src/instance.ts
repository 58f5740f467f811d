import { Inject, Injectable } from '@nestjs/common';
import type { InstanceAnswer } from '@rookery/contracts';
import { applicationSettings } from './application.settings';
import type { ApplicationSettings } from './application.settings';
import { isOnFor } from './features';
import type { Asked, FeatureName } from './features';

/** As long as admin was never reached: whatever counts when nobody sets anything. */
const DEFAULTS: InstanceAnswer = { version: -1, features: {}, settings: {} };

/**
 * What administrators set for the whole instance, as this process knows it: at most a second old, and the last known
 * while admin cannot be reached. Asking costs no call. Source: ADR 0180.
 */
@Injectable()
export class Instance {
  private known = DEFAULTS;

  constructor(@Inject(applicationSettings.token) private readonly environment: ApplicationSettings) {}

  /** Of what is known; below 0 until admin was reached. */
  get version(): number {
    return this.known.version;
  }

  /** Whether a feature is on for any of those that it is asked for. */
  isOn(name: FeatureName, asked: Asked): boolean {
    return isOnFor(name, this.known.features[name], asked, Math.random());
  }

  /** What an administrator said, else the environment. Shape: to be asked for whenever it is needed, never kept. */
  setting<N extends keyof ApplicationSettings>(name: N): ApplicationSettings[N] {
    return (this.known.settings as Partial<ApplicationSettings>)[name] ?? this.environment[name];
  }

  /** Replaces all that is known. */
  take(answer: InstanceAnswer): void {
    this.known = answer;
  }
}
