import { bootTogether } from '@rookery/platform';
import type { ProcessDefinition } from '@rookery/platform';
import { http, worker } from './tiny.steps';

const named = (name: ProcessDefinition['name']): ProcessDefinition => ({
  name,
  settings: [],
  module: async () => (await import('./tiny.module')).TinyModule,
  http,
  worker,
});

void bootTogether([named('gateway'), named('admin'), named('import')]);
