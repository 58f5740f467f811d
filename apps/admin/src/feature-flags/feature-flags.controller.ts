import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { created, Endpoint, one, page, project } from '@rookery/api-v4';
import { Refused } from '@rookery/kernel';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { whileFeatureFlagsAreOn } from '../feature-flags-clients/while-flags-are-on.permission';
import { featureFlagPresenter } from './feature-flag.presenter';
import { CreateFeatureFlag, ListFeatureFlags, IdentifyFeatureFlag, UpdateFeatureFlag } from './feature-flags.dto';
import { FeatureFlagsService } from './feature-flags.service';
import type { FeatureFlagView } from './feature-flags.service';

const SHARED = {
  source: 'reference packages-and-admin 9.2',
  within: project(),
  may: whileFeatureFlagsAreOn('developer'),
} as const;
const BASE = '/projects/:id/feature_flags';

type ProjectCall<P> = Call<P, ProjectScope, SignedInViewer>;

@Controller()
export class FeatureFlagsController {
  constructor(private readonly flags: FeatureFlagsService) {}

  @Endpoint('GET', BASE, {
    ...SHARED,
    about: 'Lists the feature flags of a project, by name.',
    params: ListFeatureFlags,
    answers: page(featureFlagPresenter),
  })
  list({ within, params, page }: ProjectCall<ListFeatureFlags>): Promise<Page<FeatureFlagView>> {
    return this.flags.list(within.id, params, page);
  }

  @Endpoint('POST', BASE, {
    ...SHARED,
    about: 'Creates a feature flag.',
    params: CreateFeatureFlag,
    answers: created(featureFlagPresenter),
    fails: [404],
  })
  create({ within, params: { version, ...input }, viewer }: ProjectCall<CreateFeatureFlag>): Promise<FeatureFlagView> {
    if (version !== undefined && version !== 'new_version_flag') {
      throw new Refused('Version is invalid', { verbatim: true });
    }
    return this.flags.create(within.id, input, viewer.userId);
  }

  @Endpoint('GET', `${BASE}/:feature_flag_name`, {
    ...SHARED,
    about: 'Returns a feature flag.',
    params: IdentifyFeatureFlag,
    answers: one(featureFlagPresenter),
    fails: [404],
  })
  show({ within, params }: ProjectCall<IdentifyFeatureFlag>): Promise<FeatureFlagView> {
    return this.flags.show(within.id, params.feature_flag_name);
  }

  @Endpoint('PUT', `${BASE}/:feature_flag_name`, {
    ...SHARED,
    about:
      'Changes the sent fields of a feature flag. Strategies and scopes with an id are changed or deleted, others are created.',
    params: UpdateFeatureFlag,
    answers: one(featureFlagPresenter),
    fails: [404],
  })
  update({ within, params, viewer }: ProjectCall<UpdateFeatureFlag>): Promise<FeatureFlagView> {
    const { feature_flag_name: name, ...input } = params;
    return this.flags.update(within.id, name, input, viewer.userId);
  }

  @Endpoint('DELETE', `${BASE}/:feature_flag_name`, {
    ...SHARED,
    about: 'Deletes a feature flag and returns its last state.',
    params: IdentifyFeatureFlag,
    answers: one(featureFlagPresenter),
    fails: [404],
  })
  remove({ within, params, viewer }: ProjectCall<IdentifyFeatureFlag>): Promise<FeatureFlagView> {
    return this.flags.remove(within.id, params.feature_flag_name, viewer.userId);
  }
}
