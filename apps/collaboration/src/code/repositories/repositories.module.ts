import { Module } from '@nestjs/common';
import { RepositoryFactsController } from './repository-facts.controller';

/** What other services may know of a project's repository. */
@Module({ controllers: [RepositoryFactsController] })
export class RepositoriesModule {}
