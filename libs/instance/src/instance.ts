import { Inject, Injectable } from '@nestjs/common';
import type { InstanceAnswer } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { applicationSettings } from './application.settings';
import type { ApplicationSettings } from './application.settings';
import { isFeatureOn } from './features';
import type { FeatureContext, FeatureName } from './features';
import { findPlanLimit } from './plan-limits';
import type { Plan, PlanLimitName } from './plan-limits';

/** The answer while no setting is changed; operator's commands use it. */
const DEFAULTS: InstanceAnswer = { version: -1, features: {}, settings: {} };

/**
 * Features and settings that administrators set for the whole instance, as this process knows them: at most a second
 * old, or the last known ones while admin cannot be reached. Reading costs no call. Errors: Unavailable in a serving
 * process that has no answer yet. Source: ADR 0180.
 */
@Injectable()
export class InstanceSettings {
  private answer: InstanceAnswer | null = DEFAULTS;

  constructor(@Inject(applicationSettings.token) private readonly environment: ApplicationSettings) {}

  get isKnown(): boolean {
    return this.answer !== null;
  }

  /** Version of the current answer; below 0 when there is none. */
  get version(): number {
    return this.answer?.version ?? DEFAULTS.version;
  }

  /** Whether a feature is on for any of the given actors. */
  isOn(name: FeatureName, asked: FeatureContext): boolean {
    return isFeatureOn(name, this.currentAnswer.features[name], asked, Math.random());
  }

  /** The value set by an administrator, else by the environment. Read it on each use and do not store it. */
  setting<N extends keyof ApplicationSettings>(name: N): ApplicationSettings[N] {
    return (this.currentAnswer.settings as Partial<ApplicationSettings>)[name] ?? this.environment[name];
  }

  /** The limit of a plan, as an administrator set it, else the built-in one. */
  planLimit(name: PlanLimitName, plan: Plan): number {
    return findPlanLimit(this.currentAnswer.plan_limits ?? {}, plan, name);
  }

  /** Replaces the current answer. */
  applyAnswer(answer: InstanceAnswer): void {
    this.answer = answer;
  }

  /** Drops the current answer: until admin answers, restrictions set by administrators are unknown and must not be lifted. */
  forgetAnswer(): void {
    this.answer = null;
  }

  private get currentAnswer(): InstanceAnswer {
    if (this.answer === null) throw new Unavailable('admin away');
    return this.answer;
  }
}
