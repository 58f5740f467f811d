import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { DirectoryModule } from '../directory/directory.module';
import { Namespace, NamespaceSeats } from './namespace.entity';
import { NamespacesController } from './namespaces.controller';
import { NamespacesQueries } from './namespaces.queries';
import { NamespacesService } from './namespaces.service';
import { NamespaceTreesService } from './paths/namespace-trees.service';
import {
  ReachExtendingNamespace,
  NamespaceAncestor,
  NamespaceCheck,
  RedirectRoute,
  SiblingPath,
} from './paths/paths.entity';
import { PersonalNamespacesService } from './personal-namespaces.service';
import { NamespacePathChecksService } from './paths/path-checks.service';
import { SiblingPathsService } from './paths/sibling-paths.service';
import { NamespacePlansService } from './plans/namespace-plans.service';
import { SeatCountsJob } from './plans/seat-counts.job';

/** Groups and personal namespaces of users, which contain projects, with their paths, plans and seats. */
@Owns(ReachExtendingNamespace, Namespace, NamespaceAncestor, NamespaceCheck, NamespaceSeats, RedirectRoute, SiblingPath)
@Module({
  imports: [DirectoryModule],
  controllers: [NamespacesController],
  providers: [
    PersonalNamespacesService,
    NamespacesQueries,
    NamespacesService,
    NamespacePlansService,
    NamespaceTreesService,
    NamespacePathChecksService,
    SeatCountsJob,
    SiblingPathsService,
  ],
  exports: [NamespacesService, NamespaceTreesService, PersonalNamespacesService, SiblingPathsService],
})
export class NamespacesModule {}
