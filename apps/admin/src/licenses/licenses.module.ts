import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { License } from './license.entity';
import { LicensesController } from './licenses.controller';
import { LicensesService } from './licenses.service';

/** The licence of the instance, which includes everything. */
@Owns(License)
@Module({ controllers: [LicensesController], providers: [LicensesService] })
export class LicensesModule {}
