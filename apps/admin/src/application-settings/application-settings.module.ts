import { Module } from '@nestjs/common';
import { InstanceModule } from '../instance/instance.module';
import { ApplicationSettingsController } from './application-settings.controller';
import { ApplicationSettingsService } from './application-settings.service';
import { UnlimitedPeople } from './unlimited-people';

/** Settings of the instance that administrators change while everything runs. */
@Module({
  imports: [InstanceModule],
  controllers: [ApplicationSettingsController],
  providers: [ApplicationSettingsService, UnlimitedPeople],
})
export class ApplicationSettingsModule {}
