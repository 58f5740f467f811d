import { Controller } from '@nestjs/common';
import { atLeast, Endpoint, group, one } from '@rookery/api-v4';
import type { Call, GroupScope, NoParams } from '@rookery/api-v4';
import { UpdatePackageSettings } from './package-settings.dto';
import type { PackageSettingsFields } from './package-settings.entity';
import { packageSettingsPresenter } from './package-settings.presenter';
import { PackageSettingsService } from './package-settings.service';

const SETTINGS = '/groups/:id/packages/settings';
const shared = {
  source: 'reference packages-and-admin 4.7',
  within: group(),
  may: atLeast('maintainer'),
  answers: one(packageSettingsPresenter),
} as const;

@Controller()
export class PackageSettingsController {
  constructor(private readonly settings: PackageSettingsService) {}

  @Endpoint('GET', SETTINGS, { ...shared, about: 'Returns the settings of a group for packages.' })
  show({ within }: Call<NoParams, GroupScope>): Promise<PackageSettingsFields> {
    return this.settings.ofGroup(within.traversalIds);
  }

  @Endpoint('PUT', SETTINGS, {
    ...shared,
    about: 'Changes the settings of a group for packages.',
    params: UpdatePackageSettings,
    fails: [422],
  })
  update({ within, params }: Call<UpdatePackageSettings, GroupScope>): Promise<PackageSettingsFields> {
    return this.settings.changeSettings(within, params);
  }
}
