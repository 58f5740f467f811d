import { Injectable } from '@nestjs/common';
import { FEATURE_DEFINITIONS, isOnFor } from '@rookery/instance';
import type { Asked, FeatureName } from '@rookery/instance';
import { Refused } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { InstanceService } from '../instance/instance.service';
import { FeatureActors } from './feature-actors';
import type { ActorNames } from './feature-actors';
import { Feature } from './feature.entity';
import type { FeatureValue, PercentageOf } from './feature.entity';

export interface FeatureInput {
  readonly value: FeatureValue;
  readonly key: PercentageOf;
  readonly names: ActorNames;
  readonly groups: readonly string[];
  /** Set it although no definition knows it. */
  readonly force: boolean;
}

/** All services hold all features in memory. */
const MOST_FEATURES = 1000;

/** Features that administrators have set; every change is told to all services. Source: reference packages-and-admin 10.1. */
@Injectable()
export class FeaturesService {
  constructor(
    private readonly work: Work,
    private readonly actors: FeatureActors,
    private readonly instance: InstanceService,
  ) {}

  list(): Promise<Feature[]> {
    return this.work.run((tx) => tx.manager.find(Feature, { order: { name: 'ASC' } }));
  }

  /** For what this service itself does: other services ask their copy. */
  async isOn(name: FeatureName, asked: Asked): Promise<boolean> {
    const feature = await this.work.run((tx) => tx.manager.findOneBy(Feature, { name }));
    return isOnFor(name, feature?.gates, asked, Math.random());
  }

  /** Errors: Refused for a name without a definition, a target that is not there, and as of `Feature.set`. */
  async set(name: string, { value, key, names, groups, force }: FeatureInput, viewer: Viewer): Promise<Feature> {
    if (!force && !FEATURE_DEFINITIONS.has(name)) throw new Refused(`Unknown feature flag: ${name}`);
    const actors = await this.actors.named(names, viewer);
    return this.work.run(async (tx) => {
      await this.instance.change(tx);
      const feature = await featureIn(tx, name);
      feature.set(value, key, { actors, groups });
      return tx.manager.save(feature);
    });
  }

  /** From now on its default counts. One that nobody set is as good as removed. */
  async remove(name: string): Promise<void> {
    await this.work.run(async (tx) => {
      await this.instance.change(tx);
      await tx.manager.delete(Feature, name);
    });
  }
}

/** Changes of the instance wait for each other, so nobody else makes one meanwhile. */
async function featureIn(tx: Tx, name: string): Promise<Feature> {
  const known = await tx.manager.findOneBy(Feature, { name });
  if (known) return known;
  if ((await tx.manager.count(Feature)) >= MOST_FEATURES)
    throw new Refused(`There are at most ${MOST_FEATURES} features`);
  return Feature.write(name);
}
