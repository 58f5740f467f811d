import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { PersonalSnippetsController } from './personal-snippets.controller';
import { ProjectSnippetsController } from './project-snippets.controller';
import { Snippet, SnippetFile } from './snippet.entity';
import { SnippetsQueries } from './snippets.queries';
import { SnippetsService } from './snippets.service';

/** Files that somebody shows others, in projects and outside of them. */
@Owns(Snippet, SnippetFile)
@Module({
  controllers: [PersonalSnippetsController, ProjectSnippetsController],
  providers: [SnippetsQueries, SnippetsService],
})
export class SnippetsModule {}
