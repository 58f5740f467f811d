import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { AvatarsModule } from '../avatars/avatars.module';
import { DirectoryModule } from '../directory/directory.module';
import { MembersModule } from '../members/members.module';
import { NamespacesModule } from '../namespaces/namespaces.module';
import { StatisticsModule } from '../statistics/statistics.module';
import { TopicsModule } from '../topics/topics.module';
import { UsersModule } from '../users/users.module';
import { ProjectFactsConsumer } from './activity/project-facts.consumer';
import { ProjectChangesController } from './changing/project-changes.controller';
import { ProjectChangesService } from './changing/project-changes.service';
import { ProjectCreationService } from './changing/project-creation.service';
import { ProjectLocksService } from './changing/project-places.service';
import { Project, ProjectStar } from './project.entity';
import { ProjectsService } from './projects.service';
import { ProjectForksController } from './forks/project-forks.controller';
import { ProjectForksService } from './forks/project-forks.service';
import { ImportByUrlClient } from './importing/import-by-url.client';
import { ProjectImportsController } from './importing/project-imports.controller';
import { ProjectImportsService } from './importing/project-imports.service';
import { JobTokenScopeGroupsQueries } from './job-admission/job-token-scope-groups.queries';
import { JobAdmissionController } from './job-admission/job-admission.controller';
import { JobTokenScopeService } from './job-admission/job-admission.service';
import { ProjectListsController } from './listing/project-lists.controller';
import { ProjectListsQueries } from './listing/project-lists.queries';
import { ProjectUsersController } from './listing/project-users.controller';
import { UserProjectsController } from './listing/user-projects.controller';
import { FormerProjectsController } from './moving/former-projects.controller';
import { ProjectMovesController } from './moving/project-moves.controller';
import { ProjectMovesService } from './moving/project-moves.service';
import { ProjectsController } from './projects.controller';
import { ProjectsQueries } from './projects.queries';
import { ProjectGroupsController } from './sharing/project-groups.controller';
import { ProjectGroupsQueries } from './sharing/project-groups.queries';
import { ProjectSharesController } from './sharing/project-shares.controller';
import { ProjectStarsController } from './stars/project-stars.controller';
import { ProjectStarsService } from './stars/project-stars.service';
import { StarrersQueries } from './stars/starrers.queries';

/** Projects: creating, changing, listing, moving, forking, sharing and starring them. */
@Owns(Project, ProjectStar)
@Module({
  imports: [
    AvatarsModule,
    DirectoryModule,
    MembersModule,
    NamespacesModule,
    StatisticsModule,
    TopicsModule,
    UsersModule,
  ],
  controllers: [
    ProjectsController,
    ProjectListsController,
    ProjectUsersController,
    UserProjectsController,
    ProjectChangesController,
    ProjectForksController,
    FormerProjectsController,
    ProjectImportsController,
    ProjectMovesController,
    ProjectSharesController,
    ProjectGroupsController,
    ProjectStarsController,
    JobAdmissionController,
    ProjectFactsConsumer,
  ],
  providers: [
    JobTokenScopeGroupsQueries,
    JobTokenScopeService,
    ImportByUrlClient,
    ProjectChangesService,
    ProjectCreationService,
    ProjectForksService,
    ProjectGroupsQueries,
    ProjectImportsService,
    ProjectListsQueries,
    ProjectMovesService,
    ProjectLocksService,
    ProjectsService,
    ProjectsQueries,
    ProjectStarsService,
    StarrersQueries,
  ],
  exports: [ProjectListsQueries, ProjectMovesService, ProjectLocksService, ProjectsQueries, ProjectsService],
})
export class ProjectsModule {}
