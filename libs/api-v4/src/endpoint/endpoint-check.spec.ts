import { Controller } from '@nestjs/common';
import { endpointProblems } from './endpoint-check';
import {
  anyone,
  atLeast,
  created,
  Endpoint,
  endpointsOf,
  Int,
  int,
  noContent,
  presenter,
  project,
  Text,
} from '../index';
import type { EndpointOptions } from '../index';

const widget = presenter<object>('Widget').fields({ id: [int, () => 1] });
const good = { about: 'x', source: 'x', may: anyone(), answers: noContent() };
class InPath {
  @Int({ in: 'path' }) missing: number;
}

class Unbounded {
  @Text({ optional: true }) search?: string;
}

function problemsOf(path: string, options: object): readonly string[] {
  class Widgets {
    handle(): void {}
  }
  const declare = Endpoint('POST', path, options as EndpointOptions);
  declare(Widgets.prototype, 'handle', {});
  Controller('widgets')(Widgets);
  return endpointProblems(endpointsOf(Widgets));
}

it.each([
  ['/x', { ...good, may: undefined }, 'has no permission'],
  ['/x', { ...good, source: ' ' }, 'has no source'],
  ['/x', { ...good, about: undefined }, 'does not say what it does'],
  ['/x', { ...good, answers: [noContent(), created(widget)] }, 'has 2 success shapes'],
  ['/x', { ...good, answers: undefined }, 'has 0 success shapes'],
  ['/x', { ...good, answers: { ...created(widget), status: 204 } }, 'has a body on 204'],
  ['/x', { ...good, may: atLeast('guest') }, 'asks for a role but has no parent'],
  ['/:id', good, 'has :id, which nothing reads'],
  ['/x', { ...good, within: project() }, 'wants :id, which is not in the path'],
  ['/x', { ...good, params: InPath }, 'wants :missing, which is not in the path'],
  ['/x', { ...good, params: Unbounded }, 'takes search, which is not declared by @Search'],
  ['/x', { ...good, aliases: ['/widgets/x'] }, 'is declared twice'],
])('refuses %s with %j', (path, options, problem) => {
  expect(problemsOf(path, options)).toEqual([`POST /api/v4/widgets${path} (Widgets.handle) ${problem}`]);
});

it('finds no problem in a complete declaration', () => {
  expect(problemsOf('/:id', { ...good, within: project() })).toEqual([]);
});
