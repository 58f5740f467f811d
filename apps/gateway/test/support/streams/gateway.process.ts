import { endpointsOf, openApiDocument } from '@rookery/api-v4';
import { boot } from '@rookery/platform';
import type { SettingsValues } from '@rookery/platform';
import { gatewayServer } from '../../../src/edge/gateway-server';
import { gatewaySettings } from '../../../src/gateway.config';
import { GatewayModule } from '../../../src/gateway.module';
import { generateRoutes } from '../../../src/routes/generate';
import { RouteTable } from '../../../src/routes/route-table';
import { answerQuestions } from './questions';
import { StreamsController } from './streams.module';

const document = openApiDocument({ service: 'package', version: '1', endpoints: endpointsOf(StreamsController) });
const table = new RouteTable(generateRoutes({ package: document }));

answerQuestions({});
void boot({
  name: 'gateway',
  settings: [gatewaySettings],
  module: () =>
    Promise.resolve({
      forRoot: (values: SettingsValues) => ({
        ...GatewayModule.forRoot(values),
        providers: [{ provide: RouteTable, useValue: table }],
      }),
    }),
  http: gatewayServer,
});
