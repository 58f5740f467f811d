import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { PackagesModule } from '../../packages/packages.module';
import { ProtectionRulesModule } from '../../protection-rules/protection-rules.module';
import { NpmMaintenance } from './maintenance/npm-maintenance';
import { NpmTagsService } from './maintenance/npm-tags.service';
import {
  NpmPublishingController,
  NpmRefusalsOfGroupsController,
  NpmRefusalsOfInstanceController,
} from './npm-publishing.controller';
import {
  NpmReadingOfGroupsController,
  NpmReadingOfInstanceController,
  NpmReadingOfProjectsController,
} from './npm-reading.controller';
import {
  NpmServicesOfGroupsController,
  NpmServicesOfInstanceController,
  NpmServicesOfProjectsController,
} from './npm-services.controller';
import { NpmVersion } from './npm-version.entity';
import { NpmDocumentsService } from './publishing/npm-documents.service';
import { NpmGate } from './publishing/npm-gate';
import { NpmPublications } from './publishing/npm-publications';
import { NpmQueries } from './reading/npm.queries';
import { Packuments } from './reading/packuments';

const attachedNpmVersions = declareAttachedTable({
  table: 'npm_versions',
  key: 'package_id',
  project: 'project_id',
  stays: { package_id: 'The foreign key removes the manifest of a package.' },
});

/** The registry of npm packages, for npm, pnpm and yarn. */
@Owns(NpmVersion)
@Attaches(attachedNpmVersions)
@Module({
  imports: [PackagesModule, ProtectionRulesModule],
  controllers: [
    NpmPublishingController,
    NpmRefusalsOfGroupsController,
    NpmRefusalsOfInstanceController,
    NpmServicesOfProjectsController,
    NpmServicesOfGroupsController,
    NpmServicesOfInstanceController,
    NpmReadingOfProjectsController,
    NpmReadingOfGroupsController,
    NpmReadingOfInstanceController,
  ],
  providers: [NpmQueries, Packuments, NpmGate, NpmPublications, NpmMaintenance, NpmDocumentsService, NpmTagsService],
})
export class NpmModule {}
