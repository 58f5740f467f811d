import { Module } from '@nestjs/common';
import { PackagesModule } from '../../packages/packages.module';
import { GenericController } from './generic.controller';
import { GenericPackagesService } from './generic.service';

/** The registry of generic packages: files by name and version. */
@Module({
  imports: [PackagesModule],
  controllers: [GenericController],
  providers: [GenericPackagesService],
})
export class GenericPackagesModule {}
