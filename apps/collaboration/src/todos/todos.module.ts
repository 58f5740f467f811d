import { Module } from '@nestjs/common';
import { MentionsModule } from '../mentions/mentions.module';
import { NotesModule } from '../notes/notes.module';
import { MarkingService } from './marking.service';
import { RaiseTodos } from './raise-todos';
import { TodosConsumer } from './todos.consumer';
import { TodosController } from './todos.controller';
import { TodosService } from './todos.service';

/** To-do items of people: assignments, mentions and what they put there themselves, on things of every kind. */
@Module({
  imports: [MentionsModule, NotesModule],
  controllers: [TodosController, TodosConsumer],
  providers: [MarkingService, RaiseTodos, TodosService],
  exports: [MarkingService],
})
export class TodosModule {}
