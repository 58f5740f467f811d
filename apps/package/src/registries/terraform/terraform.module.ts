import { Module } from '@nestjs/common';
import { PackagesModule } from '../../packages/packages.module';
import { TerraformFileTokens } from './terraform-file-tokens';
import { TerraformInstanceController } from './terraform-instance.controller';
import { TerraformProjectController } from './terraform-project.controller';
import { TerraformReleases } from './terraform-releases';
import { TerraformQueries } from './terraform.queries';
import { TerraformService } from './terraform.service';

/** The registry of Terraform modules: uploads to projects, and the module registry protocol for the instance. */
@Module({
  imports: [PackagesModule],
  controllers: [TerraformInstanceController, TerraformProjectController],
  providers: [TerraformService, TerraformReleases, TerraformQueries, TerraformFileTokens],
})
export class TerraformModule {}
