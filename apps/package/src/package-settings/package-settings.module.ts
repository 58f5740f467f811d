import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { PackageSettingsController } from './package-settings.controller';
import { PackageSettings } from './package-settings.entity';
import { PackageSettingsService } from './package-settings.service';

const attachedSettings = declareAttachedTable({ table: 'package_settings', key: 'group_id', group: 'group_id' });

/** Settings of groups for packages: duplicates and their exceptions. */
@Owns(PackageSettings)
@Attaches(attachedSettings)
@Module({
  controllers: [PackageSettingsController],
  providers: [PackageSettingsService],
  exports: [PackageSettingsService],
})
export class PackageSettingsModule {}
