import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { RepositoriesModule } from '../../code/repositories/repositories.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { CommitCommentsController } from './commit-comments.controller';
import { CommitCommentsQueries } from './commit-comments.queries';
import { CommitCommentsService } from './commit-comments.service';
import { CommitDiscussionsController } from './commit-discussions.controller';
import { CommitDiffThreads } from './commit-threads';
import { DiscussedCommit } from './discussed-commit.entity';
import { DiscussedCommits } from './discussed-commits';

/** Comments and discussions on commits. */
@Owns(DiscussedCommit)
@Module({
  imports: [NotesModule, RepositoriesModule],
  controllers: [CommitCommentsController, CommitDiscussionsController],
  providers: [CommitCommentsQueries, CommitCommentsService, CommitDiffThreads, DiscussedCommits],
})
export class CommitCommentsModule {}
