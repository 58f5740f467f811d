import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { PackagesModule } from '../../packages/packages.module';
import { ProtectionRulesModule } from '../../protection-rules/protection-rules.module';
import { ConanBinariesOfInstanceController, ConanBinariesOfProjectsController } from './conan-binaries.controller';
import { ConanFile } from './conan-file.entity';
import { ConanQueries } from './conan.queries';
import { ConanRecipesOfInstanceController, ConanRecipesOfProjectsController } from './conan-recipes.controller';
import { ConanRevision } from './conan-revision.entity';
import { CONAN_SESSION_CONTROLLERS } from './conan-session.controller';
import { ConanRemovals } from './publishing/conan-removals';
import { ConanRevisions } from './publishing/conan-revisions';
import { ConanService } from './publishing/conan.service';
import { ConanV1FilesOfInstanceController, ConanV1FilesOfProjectsController } from './v1/conan-v1-files.controller';
import { CONAN_V1_RECIPE_CONTROLLERS } from './v1/conan-v1-recipes.controller';

const attachedRevisions = declareAttachedTable({
  table: 'conan_revisions',
  project: { column: 'project_id', because: 'The foreign key removes the revisions of a package.' },
  stays: { package_id: 'The foreign key removes the revisions of a package.' },
});
const attachedFiles = declareAttachedTable({
  table: 'conan_files',
  key: 'file_id',
  stays: {
    file_id: 'The foreign key removes the row of a file.',
    revision_id: 'The foreign key removes the files of a revision.',
  },
});

/** The registry of Conan packages: recipes and their binary packages, in revisions. */
@Owns(ConanRevision, ConanFile)
@Attaches(attachedRevisions, attachedFiles)
@Module({
  imports: [PackagesModule, ProtectionRulesModule],
  controllers: [
    ...CONAN_SESSION_CONTROLLERS,
    ConanRecipesOfProjectsController,
    ConanRecipesOfInstanceController,
    ConanBinariesOfProjectsController,
    ConanBinariesOfInstanceController,
    ...CONAN_V1_RECIPE_CONTROLLERS,
    ConanV1FilesOfProjectsController,
    ConanV1FilesOfInstanceController,
  ],
  providers: [ConanQueries, ConanService, ConanRevisions, ConanRemovals],
})
export class ConanModule {}
