import { Module } from '@nestjs/common';
import { CommitsModule } from '../commits/commits.module';
import { ProtectedRefsModule } from '../protected-refs/protected-refs.module';
import { RepositoriesModule } from '../repositories/repositories.module';
import { BranchProtectionController } from './branches/branch-protection.controller';
import { BranchesController } from './branches/branches.controller';
import { BranchChanges } from './branches/branch-changes';
import { Branches } from './branches/branches';
import { MergedBranches } from './branches/merged-branches';
import { TagsController } from './tags/tags.controller';
import { TagChanges } from './tags/tag-changes';
import { Tags } from './tags/tags';

/** Branches and tags of repositories. */
@Module({
  imports: [CommitsModule, ProtectedRefsModule, RepositoriesModule],
  controllers: [BranchProtectionController, BranchesController, TagsController],
  providers: [BranchChanges, Branches, MergedBranches, TagChanges, Tags],
  exports: [TagChanges],
})
export class RefsModule {}
