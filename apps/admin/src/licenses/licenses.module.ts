import { Module } from '@nestjs/common';
import { LicensesController } from './licenses.controller';
import { LicensesService } from './licenses.service';

/** The licence of the instance, which includes everything. */
@Module({ controllers: [LicensesController], providers: [LicensesService] })
export class LicensesModule {}
