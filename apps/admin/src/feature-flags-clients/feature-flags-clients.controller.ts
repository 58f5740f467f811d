import { Controller } from '@nestjs/common';
import type { Call, NoParams, ProjectScope } from '@rookery/api-v4';
import { Endpoint, one, project } from '@rookery/api-v4';
import { featureFlagsClientPresenter } from './feature-flags-client.presenter';
import { FeatureFlagsClientsService } from './feature-flags-clients.service';
import { whileFeatureFlagsAreOn } from './while-flags-are-on.permission';

const SOURCE = 'reference packages-and-admin 9.3';

@Controller()
export class FeatureFlagsClientsController {
  constructor(private readonly clients: FeatureFlagsClientsService) {}

  @Endpoint('GET', '/projects/:id/feature_flags_client', {
    about: 'Returns the token by which clients fetch the feature flags of a project.',
    source: SOURCE,
    within: project(),
    may: whileFeatureFlagsAreOn('maintainer'),
    answers: one(featureFlagsClientPresenter),
  })
  show({ within }: Call<NoParams, ProjectScope>): Promise<{ readonly token: string }> {
    return this.clients.show(within.id);
  }

  @Endpoint('POST', '/projects/:id/feature_flags_client/reset_token', {
    about: 'Replaces the token of a project. The previous token becomes invalid.',
    source: SOURCE,
    within: project(),
    may: whileFeatureFlagsAreOn('maintainer'),
    answers: one(featureFlagsClientPresenter),
  })
  reset({ within }: Call<NoParams, ProjectScope>): Promise<{ readonly token: string }> {
    return this.clients.reset(within.id);
  }
}
