import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, Endpoint, one } from '@rookery/api-v4';
import { UpdateApplicationSettings } from './application-settings.dto';
import { applicationSettingsPresenter } from './application-settings.presenter';
import { ApplicationSettingsService } from './application-settings.service';
import type { ApplicationSettingsView } from './application-settings.service';

const SHARED = {
  source: 'reference packages-and-admin 10.3',
  may: administrator(),
  answers: one(applicationSettingsPresenter),
} as const;

@Controller()
export class ApplicationSettingsController {
  constructor(private readonly settings: ApplicationSettingsService) {}

  @Endpoint('GET', '/application/settings', { ...SHARED, about: 'Returns the settings of the instance.' })
  show(): Promise<ApplicationSettingsView> {
    return this.settings.show();
  }

  @Endpoint('PUT', '/application/settings', {
    ...SHARED,
    about: 'Changes the sent settings. Every service applies them within a second.',
    params: UpdateApplicationSettings,
  })
  update({ params, viewer }: Call<UpdateApplicationSettings>): Promise<ApplicationSettingsView> {
    return this.settings.change(params, viewer);
  }
}
