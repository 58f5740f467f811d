import { Inject, Injectable } from '@nestjs/common';
import { applicationSettings } from '@rookery/instance';
import type { ApplicationSettings } from '@rookery/instance';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { InstanceService } from '../instance/instance.service';
import { ApplicationSetting } from './application-setting.entity';

/** Settings of the whole instance; every change is told to all services. Source: reference packages-and-admin 10.3. */
@Injectable()
export class ApplicationSettingsService {
  constructor(
    private readonly work: Work,
    private readonly instance: InstanceService,
    @Inject(applicationSettings.token) private readonly environment: ApplicationSettings,
  ) {}

  /** All of them, changed or not. */
  show(): Promise<ApplicationSettings> {
    return this.work.run((tx) => this.all(tx));
  }

  /** Changes those that are sent. */
  change(sent: Partial<ApplicationSettings>): Promise<ApplicationSettings> {
    return this.work.run(async (tx) => {
      await this.instance.change(tx);
      const rows = Object.entries(sent).map(([name, value]) => tx.manager.create(ApplicationSetting, { name, value }));
      await tx.manager.save(rows);
      return this.all(tx);
    });
  }

  private async all(tx: Tx): Promise<ApplicationSettings> {
    const changed = await tx.manager.find(ApplicationSetting);
    return { ...this.environment, ...Object.fromEntries(changed.map(({ name, value }) => [name, value])) };
  }
}
