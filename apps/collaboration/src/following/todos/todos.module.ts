import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { MarkingService } from './marking.service';
import { RaiseTodos } from './raise-todos';
import { TodoQuickActions } from './todo-quick-actions';
import { Todo } from './todo.entity';
import { TodosConsumer } from './todos.consumer';
import { TodosController } from './todos.controller';
import { TodosService } from './todos.service';
import { attachedTodos } from './todo-removal';

/** To-do items of people: assignments, mentions and what they put there themselves, on things of every kind. */
@Owns(Todo)
@Attaches(attachedTodos)
@Module({
  imports: [MentionsModule, NotesModule],
  controllers: [TodosController, TodosConsumer],
  providers: [MarkingService, RaiseTodos, TodoQuickActions, TodosService],
  exports: [MarkingService],
})
export class TodosModule {}
