import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, unpagedList, created, Endpoint, noContent } from '@rookery/api-v4';
import { FEATURE_DEFINITIONS } from '@rookery/instance';
import { definitionPresenter, featurePresenter } from './feature.presenter';
import type { DefinitionEntry } from './feature.presenter';
import type { Feature } from './feature.entity';
import { toFeatureInput, IdentifyFeature, SetFeature } from './features.dto';
import { FeaturesService } from './features.service';

const SHARED = { source: 'reference packages-and-admin 10.1', may: administrator() } as const;

@Controller()
export class FeaturesController {
  constructor(private readonly features: FeaturesService) {}

  @Endpoint('GET', '/features', {
    ...SHARED,
    about: 'Lists the features that have been set, by name.',
    answers: unpagedList(featurePresenter),
  })
  list(): Promise<Feature[]> {
    return this.features.list();
  }

  @Endpoint('GET', '/features/definitions', {
    ...SHARED,
    about: 'Lists the features that services use, set or not.',
    answers: unpagedList(definitionPresenter),
  })
  definitions(): readonly DefinitionEntry[] {
    return [...FEATURE_DEFINITIONS];
  }

  @Endpoint('POST', '/features/:name', {
    ...SHARED,
    about: 'Switches a feature on or off: for all, for a percentage, or for the named targets.',
    params: SetFeature,
    answers: created(featurePresenter),
  })
  set({ params, viewer }: Call<SetFeature>): Promise<Feature> {
    return this.features.set(params.name, toFeatureInput(params), viewer);
  }

  @Endpoint('DELETE', '/features/:name', {
    ...SHARED,
    about: 'Resets a feature to its default. Succeeds also if it was not set.',
    params: IdentifyFeature,
    answers: noContent(),
  })
  remove({ params }: Call<IdentifyFeature>): Promise<void> {
    return this.features.remove(params.name);
  }
}
