import { bootTogether } from '@rookery/platform';
import type { ProcessDefinition } from '@rookery/platform';
import { http, worker } from './tiny.steps';

const definitionNamed = (name: ProcessDefinition['name']): ProcessDefinition => ({
  name,
  settings: [],
  module: async () => (await import('./tiny.module')).TinyModule,
  http,
  worker,
});

void bootTogether([definitionNamed('gateway'), definitionNamed('admin'), definitionNamed('import')]);
