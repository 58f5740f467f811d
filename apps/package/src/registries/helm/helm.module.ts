import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { PackagesModule } from '../../packages/packages.module';
import { ProtectionRulesModule } from '../../protection-rules/protection-rules.module';
import { HelmController } from './helm.controller';
import { HelmFile } from './helm-file.entity';
import { HelmQueries } from './helm.queries';
import { HelmService } from './helm.service';

const attachedHelmFiles = declareAttachedTable({
  table: 'helm_files',
  key: 'file_id',
  project: { column: 'project_id', because: 'The foreign key removes the row of a file.' },
  stays: { file_id: 'The foreign key removes the row of a file.' },
});

/** The registry of Helm charts: channels of a project with their index and charts. */
@Owns(HelmFile)
@Attaches(attachedHelmFiles)
@Module({
  imports: [PackagesModule, ProtectionRulesModule],
  controllers: [HelmController],
  providers: [HelmService, HelmQueries],
})
export class HelmModule {}
