import { Module } from '@nestjs/common';
import { ProtectedRefsModule } from '../protected-refs/protected-refs.module';
import { RepositoriesModule } from '../repositories/repositories.module';
import { CherryPicksAndReverts } from './cherry-picks-and-reverts';
import { CommitCopiesController } from './commit-copies.controller';
import { CommitHistory } from './commit-history';
import { CommitPipelines } from './commit-pipelines';
import { CommitsController } from './commits.controller';
import { Comparisons } from './comparison';
import { ComparisonController } from './comparison.controller';
import { Contributors } from './contributors';

/** Commits of repositories: history, comparison and changes. */
@Module({
  imports: [ProtectedRefsModule, RepositoriesModule],
  controllers: [CommitCopiesController, CommitsController, ComparisonController],
  providers: [CherryPicksAndReverts, CommitHistory, CommitPipelines, Comparisons, Contributors],
})
export class CommitsModule {}
