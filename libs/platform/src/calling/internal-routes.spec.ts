import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { platformSettings } from '../boot/platform.settings';
import { PlatformModule } from '../platform.module';
import { readSettings } from '../settings/settings';
import { InternalRoutes } from './internal-routes';

const SECRET = Buffer.alloc(32, 7).toString('base64');

it('asks another service with the key of the pair, and closes its connections with the process', async () => {
  const authorizations: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    response.setHeader('content-type', 'application/json').end('{"commit":null}');
  });
  const closed = new Promise<void>((resolve) => {
    server.on('connection', (socket: Socket) => socket.on('close', () => resolve()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const values = readSettings([platformSettings], {
    COLLABORATION_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/below`,
    ROOKERY_INTERNAL_KEYS: `k1/package/collaboration:${SECRET}`,
    ROOKERY_CONTEXT_KEYS: `k1/package:${SECRET}`,
    LOG_LEVEL: 'silent',
  });
  const app = await NestFactory.createApplicationContext(PlatformModule.forRoot({ service: 'package', values }), {
    logger: false,
  });
  const limits = { connections: 1, maxWaitMs: 10_000 };
  const route = app
    .get(InternalRoutes)
    .createClient<object, { commit: null }>('collaboration', INTERNAL_PATHS.resolveRef, limits);
  expect(await route.ask({})).toEqual({ commit: null });
  expect(authorizations).toEqual([expect.stringMatching(/./)]);
  await app.close();
  await closed;
  server.close();
});
