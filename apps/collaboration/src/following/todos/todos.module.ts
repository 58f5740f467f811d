import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { MentionsModule } from '../../talk/mentions/mentions.module';
import { NotesModule } from '../../talk/notes/notes.module';
import { AccessRequestTodos } from './access-request-todos';
import { AccessRequestsConsumer } from './access-requests.consumer';
import { TodoMarkingService } from './marking.service';
import { TodoRecorder } from './todo-recorder';
import { TodoQuickActions } from './todo-quick-actions';
import { Todo } from './todo.entity';
import { TodosConsumer } from './todos.consumer';
import { TodosController } from './todos.controller';
import { TodosService } from './todos.service';
import { attachedTodos } from './todo-removal';

/** To-dos of users: assignments and mentions on noteables of every kind, access requests, and to-dos that users add themselves. */
@Owns(Todo)
@Attaches(attachedTodos)
@Module({
  imports: [MentionsModule, NotesModule],
  controllers: [TodosController, TodosConsumer, AccessRequestsConsumer],
  providers: [AccessRequestTodos, TodoMarkingService, TodoRecorder, TodoQuickActions, TodosService],
  exports: [TodoMarkingService, TodoRecorder],
})
export class TodosModule {}
