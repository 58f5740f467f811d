import type { FeatureGates } from '@rookery/contracts';
import { Refused } from '@rookery/kernel';
import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** Value of a feature: on, off, or a percentage from 1 to 99. */
export type FeatureValue = boolean | number;
export type PercentageOf = 'percentage_of_time' | 'percentage_of_actors';

/** Actors and groups that a value applies to. If both are empty, it applies to all. */
export interface FeatureTargets {
  readonly actors: readonly string[];
  readonly groups: readonly string[];
}

const MOST_TARGETS = 1000;

/** A feature of the instance that an administrator has set. Source: reference packages-and-admin 10.1. */
@Entity('instance_features')
@Check('ck_instance_features_name', 'char_length(name) <= 255')
export class Feature {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_instance_features' }) name: string;
  @Column({ type: 'boolean', default: false }) isOn: boolean;
  @Column({ type: 'integer', default: 0 }) percentageOfTime: number;
  @Column({ type: 'integer', default: 0 }) percentageOfActors: number;
  /** Actors in the form of gates, such as `Project:7`. */
  @Column({ type: 'text', array: true, default: () => `'{}'` }) actors: string[];
  @Column({ type: 'text', array: true, default: () => `'{}'` }) groups: string[];

  /** Creates a feature that is off for all. */
  static create(name: string): Feature {
    const feature = new Feature();
    feature.name = name;
    feature.resetGates();
    return feature;
  }

  /** Errors: Refused for a percentage while the feature is on for all, and for more than 1000 targets. */
  setGate(value: FeatureValue, key: PercentageOf, targets: FeatureTargets): void {
    const { actors, groups } = targets;
    if (typeof value === 'number') this.setPercentage(value, key);
    else if (actors.length + groups.length > 0) this.addOrRemoveTargets(value, targets);
    else this.resetGates(value);
  }

  get state(): 'on' | 'off' | 'conditional' {
    if (this.isOn) return 'on';
    const isSome = this.percentageOfTime + this.percentageOfActors + this.actors.length + this.groups.length > 0;
    return isSome ? 'conditional' : 'off';
  }

  /** Gates by which services decide whether the feature is on. */
  get gates(): FeatureGates {
    const { isOn, percentageOfTime, percentageOfActors, actors, groups } = this;
    return {
      boolean: isOn,
      percentage_of_time: percentageOfTime,
      percentage_of_actors: percentageOfActors,
      actors,
      groups,
    };
  }

  /** Resets all gates and sets the feature on or off for all. */
  private resetGates(isOn = false): void {
    this.isOn = isOn;
    this.percentageOfTime = 0;
    this.percentageOfActors = 0;
    this.actors = [];
    this.groups = [];
  }

  private setPercentage(value: number, key: PercentageOf): void {
    const words = key.replaceAll('_', ' ');
    if (this.isOn) throw new Refused(`Cannot enable ${words} for a fully-enabled flag`);
    if (key === 'percentage_of_time') this.percentageOfTime = value;
    else this.percentageOfActors = value;
  }

  private addOrRemoveTargets(isOn: boolean, { actors, groups }: FeatureTargets): void {
    this.actors = addOrRemoveNames(this.actors, actors, isOn);
    this.groups = addOrRemoveNames(this.groups, groups, isOn);
    if (this.actors.length > MOST_TARGETS) throw new Refused(`A feature has at most ${MOST_TARGETS} actors`);
  }
}

/** Returns the list with the names added or removed. Added names are sorted in, without duplicates. */
function addOrRemoveNames(list: readonly string[], names: readonly string[], isAdded: boolean): string[] {
  return isAdded ? [...new Set([...list, ...names])].sort() : list.filter((name) => !names.includes(name));
}
