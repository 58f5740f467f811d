import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { InstanceConfigModule } from '../instance/instance.module';
import { ApplicationSetting } from './application-setting.entity';
import { ApplicationSettingsController } from './application-settings.controller';
import { ApplicationSettingsService } from './application-settings.service';
import { NoteLimitAllowlist } from './note-limit-allowlist';

/** Instance settings that administrators change at run time. */
@Owns(ApplicationSetting)
@Module({
  imports: [InstanceConfigModule],
  controllers: [ApplicationSettingsController],
  providers: [ApplicationSettingsService, NoteLimitAllowlist],
})
export class ApplicationSettingsModule {}
