import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReadyMessage } from '../src';
import { goodEnv, StartedProcess } from './process/started-process';

const { ROOKERY_INTERNAL_KEYS, ROOKERY_CONTEXT_KEYS, ...common } = goodEnv;
const OWN = {
  gateway: {
    ROOKERY_INTERNAL_KEYS: contextKeyOf('gateway/identity'),
    ROOKERY_CONTEXT_KEYS: `${contextKeyOf('admin')}`,
  },
  admin: { ROOKERY_INTERNAL_KEYS, ROOKERY_CONTEXT_KEYS },
};

function contextKeyOf(name: string): string {
  return `k1/${name}:${Buffer.alloc(32, 1).toString('base64')}`;
}

function environmentFor(own: object, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...common, ...more, ESTATE_ENVIRONMENTS: JSON.stringify(own) };
}

describe('several definitions in one process', () => {
  const started: StartedProcess[] = [];
  const servers: Server[] = [];
  const listening = async (server: Server): Promise<AddressInfo> => {
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return server.address() as AddressInfo;
  };
  const start = (env: Readonly<Record<string, string>>): StartedProcess => {
    const process = new StartedProcess([], env, 'together.process.ts');
    started.push(process);
    return process;
  };
  afterEach(async () => {
    for (const { child, ended } of started.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });
  /**
   * Returns the ports of a service from its log line, which arrives later than messages. `life` counts its starts from
   * 1.
   */
  const readyOf = async (process: StartedProcess, service: string, life = 1): Promise<ReadyMessage> => {
    const lines = () => process.lines().filter((one) => one['msg'] === 'ready' && one['service'] === service);
    while (lines().length < life)
      await process.says(new RegExp(`(?:"service":"${service}".*"msg":"ready"[^]*){${life}}`));
    return lines()[life - 1] as unknown as ReadyMessage;
  };
  const text = async (port: number | null, path: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${port}${path}`)).text();

  it('boots those with an environment; each has its own name, log, metrics and health', async () => {
    const process = start(environmentFor(OWN));
    const message = await process.ready;
    const [gateway, admin] = [await readyOf(process, 'gateway'), await readyOf(process, 'admin')];
    expect(message).toEqual({ type: 'ready', port: gateway.port, managementPort: gateway.managementPort });
    expect(process.lines().filter((line) => line['msg'] === 'ready')).toHaveLength(2);
    expect(await text(admin.port, '/nest')).toBe('admin');
    expect(await text(gateway.port, '/nest')).toBe('gateway');
    await process.says(/by Nest[^]*by Nest/);
    const byNest = process.lines().filter((line) => line['msg'] === 'by Nest');
    const pid = process.child.pid;
    expect(byNest).toMatchObject([
      { service: 'admin', instance: expect.stringMatching(`-${pid}-admin$`) },
      { service: 'gateway', instance: expect.stringMatching(`-${pid}-gateway$`) },
    ]);
    for (const { managementPort } of [gateway, admin]) {
      expect(await text(managementPort, '/-/health/ready')).toBe('{"status":"ok"}');
      expect(await text(managementPort, '/-/metrics')).toContain('rookery_tiny_total 1');
    }
  });

  it('serves the others until the first has answered its requests in flight', async () => {
    const process = start(environmentFor(OWN));
    const { port } = await process.ready;
    const { port: other } = await readyOf(process, 'admin');
    const inFlight = text(port, '/slow?ms=1500');
    await process.says(/asked/);
    process.child.kill('SIGTERM');
    await process.says(/stopping/);
    await expect(text(other, '/nest')).resolves.toBe('admin');
    expect(JSON.parse(await inFlight)).toMatchObject({ service: 'gateway' });
    expect(await process.ended).toEqual({ code: 0, signal: null });
    const drained = process.lines().filter((line) => line['msg'] === 'consumers drained');
    expect(drained.map((line) => line['service'])).toEqual(['gateway', 'admin']);
  });

  it('rests and resumes all of them at the request of its parent, and ends when the parent is gone', async () => {
    const process = start(environmentFor(OWN));
    await process.ready;
    for (let life = 1; life <= 3; life += 1) {
      const { managementPort } = await readyOf(process, 'admin', life);
      expect(await process.request('rest')).toEqual({ type: 'resting' });
      await expect(text(managementPort, '/-/health/live')).rejects.toThrow('fetch failed');
      const { port } = (await process.request('resume')) as ReadyMessage;
      expect(port).toBe((await readyOf(process, 'gateway', life + 1)).port);
      expect(await text((await readyOf(process, 'admin', life + 1)).port, '/nest')).toBe('admin');
    }
    process.child.disconnect();
    expect(await process.ended).toEqual({ code: 0, signal: null });
  });

  it('lists the bad settings of all, and ends with 78', async () => {
    const process = start(environmentFor({ gateway: { ...OWN.gateway, PORT: 'http' }, admin: OWN.gateway }));
    expect((await process.ended).code).toBe(78);
    expect(process.errors).toMatch(/^gateway: The configuration has 1 problem:\n {2}- PORT is not a whole number$/m);
    expect(process.errors).toMatch(/^admin: .*\n {2}- ROOKERY_INTERNAL_KEYS holds keys for others than admin/m);
    const alone = start(common);
    expect((await alone.ended).code).toBe(78);
    expect(alone.errors).toContain('npm start -- --one');
  });

  it('ends with 1 when one of them crashes or does not start, and logs its name', async () => {
    const process = start(environmentFor(OWN));
    await process.ready;
    await text((await readyOf(process, 'admin')).port, '/crash');
    expect((await process.ended).code).toBe(1);
    expect(process.lines().at(-1)).toMatchObject({ service: 'admin', level: 'error', msg: 'admin all failed' });
    const { port } = await listening(createServer());
    const second = start(environmentFor({ ...OWN, admin: { ...OWN.admin, MANAGEMENT_PORT: String(port) } }));
    expect((await second.ended).code).toBe(1);
    expect(second.lines()).toContainEqual(
      expect.objectContaining({ service: 'admin', msg: `port ${port} is in use by another process` }),
    );
  });

  it('passes no keys to programs that it starts', async () => {
    const process = start(environmentFor(OWN));
    await process.ready;
    expect(await text((await readyOf(process, 'admin')).port, '/inherited')).not.toContain('ESTATE_ENVIRONMENTS');
  });

  it('sends traces in the name of each service', async () => {
    const names = new Set<string>();
    const collector = createServer((request, response) => {
      const parts: Buffer[] = [];
      request
        .on('data', (part: Buffer) => parts.push(part))
        .on('end', () => {
          const { resourceSpans } = JSON.parse(Buffer.concat(parts).toString()) as {
            resourceSpans: { resource: { attributes: { key: string; value: { stringValue: string } }[] } }[];
          };
          for (const { resource } of resourceSpans)
            names.add(resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '');
          response.setHeader('content-type', 'application/json').end('{}');
        });
    });
    const { port } = await listening(collector);
    const process = start(
      environmentFor(OWN, {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      }),
    );
    await process.ready;
    for (const name of ['admin', 'gateway']) await text((await readyOf(process, name)).port, '/nest');
    process.child.kill('SIGTERM');
    expect(await process.ended).toEqual({ code: 0, signal: null });
    expect([...names].sort()).toEqual(['rookery-admin', 'rookery-gateway']);
  });
});
