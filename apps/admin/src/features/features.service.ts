import { Injectable } from '@nestjs/common';
import { FEATURE_DEFINITIONS, isFeatureOn } from '@rookery/instance';
import type { FeatureContext, FeatureName } from '@rookery/instance';
import { Refused } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { InstanceConfigService } from '../instance/instance.service';
import { FeatureActors } from './feature-actors';
import type { ActorNames } from './feature-actors';
import { Feature } from './feature.entity';
import type { FeatureValue, PercentageOf } from './feature.entity';

export interface FeatureInput {
  readonly value: FeatureValue;
  readonly key: PercentageOf;
  readonly names: ActorNames;
  readonly groups: readonly string[];
  /** Sets the feature even if it has no definition. */
  readonly force: boolean;
}

/** Bounded because every service holds all features in memory. */
const MOST_FEATURES = 1000;

/**
 * Features that administrators have set. Each change is published to all services. Source: reference packages-and-admin
 * 10.1.
 */
@Injectable()
export class FeaturesService {
  constructor(
    private readonly work: Work,
    private readonly actors: FeatureActors,
    private readonly instance: InstanceConfigService,
  ) {}

  list(): Promise<Feature[]> {
    return this.work.run((tx) => tx.manager.find(Feature, { order: { name: 'ASC' } }));
  }

  /** Whether a feature is on, for use within this service. Other services ask their own copy. */
  async isOn(name: FeatureName, asked: FeatureContext): Promise<boolean> {
    const feature = await this.work.run((tx) => tx.manager.findOneBy(Feature, { name }));
    return isFeatureOn(name, feature?.gates, asked, Math.random());
  }

  /** Errors: Refused for a name without a definition and for unknown targets, and as in `Feature.setGate`. */
  async set(name: string, { value, key, names, groups, force }: FeatureInput, viewer: Viewer): Promise<Feature> {
    if (!force && !FEATURE_DEFINITIONS.has(name)) throw new Refused(`Unknown feature flag: ${name}`);
    const actors = await this.actors.resolve(names, viewer);
    return this.work.run(async (tx) => {
      await this.instance.change(tx);
      const feature = await findOrCreateFeature(tx, name);
      feature.setGate(value, key, { actors, groups });
      return tx.manager.save(feature);
    });
  }

  /** Resets a feature to its default. Succeeds also if it was not set. */
  async remove(name: string): Promise<void> {
    await this.work.run(async (tx) => {
      await this.instance.change(tx);
      await tx.manager.delete(Feature, name);
    });
  }
}

/** Returns the feature, new or stored. Changes of the instance are serialized, so no concurrent one can create it. */
async function findOrCreateFeature(tx: Tx, name: string): Promise<Feature> {
  const known = await tx.manager.findOneBy(Feature, { name });
  if (known) return known;
  if ((await tx.manager.count(Feature)) >= MOST_FEATURES)
    throw new Refused(`There are at most ${MOST_FEATURES} features`);
  return Feature.create(name);
}
