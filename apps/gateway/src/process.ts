import type { ProcessDefinition } from '@rookery/platform';
import { gatewaySettings } from './gateway.config';
import { gatewayServer } from './edge/gateway-server';

/** The service as a process. */
export const gatewayProcess: ProcessDefinition = {
  name: 'gateway',
  settings: [gatewaySettings],
  module: async () => (await import('./gateway.module')).GatewayModule,
  http: gatewayServer,
};
