import { Int, OneOf } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import { TODO_ACTIONS, TODO_STATES, TODO_TARGET_TYPES } from './todo-actions';
import type { TodoAction, TodoState, TodoTargetType } from './todo-actions';
import type { TodoFilter } from './todos.statements';

export class ListTodos implements ExactInput<TodoFilter, ListTodos> {
  @OneOf(TODO_ACTIONS, { optional: true }) action?: TodoAction;
  @Int({ optional: true }) author_id?: number;
  @Int({ optional: true }) project_id?: number;
  @Int({ optional: true, about: 'A group, its subgroups and their projects.' }) group_id?: number;
  @OneOf(TODO_STATES, { default: 'pending' }) state: TodoState;
  @OneOf(TODO_TARGET_TYPES, { optional: true }) type?: TodoTargetType;
}

export class IdentifyTodo {
  @Int() id: number;
}
