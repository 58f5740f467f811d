import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { InstanceModule } from '../instance/instance.module';
import { ApplicationSetting } from './application-setting.entity';
import { ApplicationSettingsController } from './application-settings.controller';
import { ApplicationSettingsService } from './application-settings.service';
import { UnlimitedPeople } from './unlimited-people';

/** Settings of the instance that administrators change while everything runs. */
@Owns(ApplicationSetting)
@Module({
  imports: [InstanceModule],
  controllers: [ApplicationSettingsController],
  providers: [ApplicationSettingsService, UnlimitedPeople],
})
export class ApplicationSettingsModule {}
