import { Inject, Injectable } from '@nestjs/common';
import type { InstanceAnswer } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { applicationSettings } from './application.settings';
import type { ApplicationSettings } from './application.settings';
import { isOnFor } from './features';
import type { Asked, FeatureName } from './features';

/** What counts when nobody sets anything; commands of an operator go by it. */
const DEFAULTS: InstanceAnswer = { version: -1, features: {}, settings: {} };

/**
 * What administrators set for the whole instance, as this process knows it: at most a second old, and the last known
 * while admin cannot be reached. Asking costs no call. Errors: Unavailable in a process that serves, before it knows
 * anything. Source: ADR 0180.
 */
@Injectable()
export class Instance {
  private answer: InstanceAnswer | null = DEFAULTS;

  constructor(@Inject(applicationSettings.token) private readonly environment: ApplicationSettings) {}

  get isKnown(): boolean {
    return this.answer !== null;
  }

  /** Of what is known; below 0 when that is nothing. */
  get version(): number {
    return this.answer?.version ?? DEFAULTS.version;
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
    this.answer = answer;
  }

  /** Nothing is known any more: what administrators restricted must not be free until they are heard. */
  forget(): void {
    this.answer = null;
  }

  private get known(): InstanceAnswer {
    if (this.answer === null) throw new Unavailable('admin away');
    return this.answer;
  }
}
