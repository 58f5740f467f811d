import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { ImportedObjectsModule } from '../../base/imported-objects/imported-objects.module';
import { ProtectedBranch } from './protected-branch.entity';
import { attachedProtectedBranches, ProtectedBranches } from './protected-branches';
import { ProtectedBranchesController } from './protected-branches.controller';
import { ProtectedBranchImports } from './protected-branch-imports';
import { ProtectedTag } from './protected-tag.entity';
import { attachedProtectedTags, ProtectedTagsController } from './protected-tags.controller';
import { RefProtections } from './ref-protections';

/** Rules of projects for branches and tags: who may push, merge, create, and replace commits. */
@Owns(ProtectedBranch, ProtectedTag)
@Attaches(attachedProtectedBranches, attachedProtectedTags)
@Module({
  imports: [ImportedObjectsModule],
  controllers: [ProtectedBranchesController, ProtectedTagsController],
  providers: [ProtectedBranches, ProtectedBranchImports, RefProtections],
  exports: [ProtectedBranches, RefProtections],
})
export class ProtectedRefsModule {}
