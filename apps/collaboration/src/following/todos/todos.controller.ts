import { Controller } from '@nestjs/common';
import { created, Endpoint, JsonText, noContent, page, signedIn } from '@rookery/api-v4';
import type { Call, JsonPage, NoParams } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { todoDetailShape, todoShape } from './todo.shape';
import { ListTodos, IdentifyTodo } from './todos.dto';
import { TodosService } from './todos.service';

type TodoCall<P> = Call<P, undefined, SignedInViewer>;

@Controller('todos')
export class TodosController {
  constructor(private readonly todos: TodosService) {}

  @Endpoint('GET', '', {
    about: "Lists the caller's to-dos, newest first; by default the pending ones.",
    source: 'requirements 1 §4 To-do items; reference work-tracking 6.1',
    may: signedIn(),
    params: ListTodos,
    answers: page(todoShape.presenter),
  })
  list({ params, viewer, page }: TodoCall<ListTodos>): Promise<JsonPage> {
    return this.todos.list(viewer, params, page);
  }

  @Endpoint('POST', ':id/mark_as_done', {
    about: "Marks one of the caller's to-dos as done.",
    source: 'requirements 1 §3, §4 To-do items; reference work-tracking 6.1',
    may: signedIn(),
    params: IdentifyTodo,
    answers: created(todoDetailShape.presenter),
  })
  async markDone({ params, viewer }: TodoCall<IdentifyTodo>): Promise<JsonText> {
    return new JsonText(await this.todos.markDone(viewer, params.id));
  }

  @Endpoint('POST', 'mark_as_done', {
    about: "Marks all of the caller's pending to-dos as done.",
    source: 'requirements 1 §3, §4 To-do items; reference work-tracking 6.1',
    may: signedIn(),
    answers: noContent(),
  })
  markAllDone({ viewer }: TodoCall<NoParams>): Promise<void> {
    return this.todos.markAllDone(viewer);
  }
}
