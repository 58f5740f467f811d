import { boot } from '@rookery/platform';
import { gatewaySettings } from './gateway.config';
import { gatewayServer } from './edge/gateway-server';

void boot({
  name: 'gateway',
  settings: [gatewaySettings],
  module: async () => (await import('./gateway.module')).GatewayModule,
  http: gatewayServer,
});
