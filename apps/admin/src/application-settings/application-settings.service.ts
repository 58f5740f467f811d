import { Inject, Injectable } from '@nestjs/common';
import { applicationSettings } from '@rookery/instance';
import type { ApplicationSettings } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { InstanceConfigService } from '../instance/instance.service';
import { ApplicationSetting } from './application-setting.entity';
import { NoteLimitAllowlist } from './note-limit-allowlist';

/** Application settings as the API shows them: users by username instead of id. */
export interface ApplicationSettingsView extends Omit<ApplicationSettings, 'notes_create_limit_allowlist'> {
  readonly notes_create_limit_allowlist: readonly string[];
}

/**
 * Application settings of the instance. Each change is published to all services. Source: reference packages-and-admin
 * 10.3.
 */
@Injectable()
export class ApplicationSettingsService {
  constructor(
    private readonly work: Work,
    private readonly instance: InstanceConfigService,
    private readonly allowlist: NoteLimitAllowlist,
    @Inject(applicationSettings.token) private readonly environment: ApplicationSettings,
  ) {}

  /** Returns all settings, with defaults from the environment. */
  show(): Promise<ApplicationSettingsView> {
    return this.work.run((tx) => this.readSettings(tx));
  }

  /** Changes the sent settings. Errors: Invalid for unknown usernames. */
  async change(
    { notes_create_limit_allowlist: names, ...sent }: Partial<ApplicationSettingsView>,
    by: Viewer,
  ): Promise<ApplicationSettingsView> {
    const ids = names && (await this.allowlist.findUserIds(names, by));
    const kept: Partial<ApplicationSettings> = { ...sent, ...(ids ? { notes_create_limit_allowlist: ids } : {}) };
    return this.work.run(async (tx) => {
      await this.instance.change(tx);
      const rows = Object.entries(kept).map(([name, value]) => tx.manager.create(ApplicationSetting, { name, value }));
      await tx.manager.save(rows);
      return this.readSettings(tx);
    });
  }

  private async readSettings(tx: Tx): Promise<ApplicationSettingsView> {
    const changed = await tx.manager.find(ApplicationSetting);
    const settings: ApplicationSettings = {
      ...this.environment,
      ...Object.fromEntries(changed.map(({ name, value }) => [name, value])),
    };
    const names = await this.allowlist.findUsernames(settings.notes_create_limit_allowlist, tx);
    return { ...settings, notes_create_limit_allowlist: names };
  }
}
