import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { parse } from 'yaml';
import { addMember, call, estate, eventually, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';
import { RequestLog } from '../support/request-log';

const basic = (token: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`anybody:${token}`).toString('base64')}`,
});
const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

async function chartOf(name: string, version: string): Promise<Buffer> {
  const entries = pack();
  entries.entry(
    { name: `${name}/Chart.yaml` },
    `apiVersion: v2\nname: ${name}\nversion: ${version}\nappVersion: 1.10\n`,
  );
  entries.entry({ name: `${name}/templates/a.yaml` }, 'kind: ConfigMap\n');
  entries.finalize();
  const parts: Buffer[] = [];
  for await (const part of entries as AsyncIterable<Buffer>) parts.push(part);
  return gzipSync(Buffer.concat(parts));
}

interface Entry {
  readonly version: string;
  readonly urls: readonly [string];
  readonly digest: string;
}
interface Index {
  readonly serverInfo: { readonly contextPath: string };
  readonly entries: Readonly<Record<string, readonly Entry[]>>;
}

/**
 * Helm and its plugin cm-push, which neither Debian nor npm have. Helm sends credentials with the first request, resolves
 * chart URLs against the index, and compares digests; the plugin finds the address of uploads in the index.
 */
class ScriptedHelm {
  constructor(
    private readonly log: RequestLog,
    private readonly repository: string,
    private readonly headers: Record<string, string>,
  ) {}

  /** `helm repo add`, `helm repo update`. */
  async index(about: string): Promise<{ status: number; index: Index }> {
    const headers = { ...this.headers, 'user-agent': 'Helm/3.16.4', 'accept-encoding': 'gzip' };
    const answer = await this.log.send({ about, method: 'GET', url: `${this.repository}/index.yaml`, headers });
    const text = await answer.text();
    return { status: answer.status, index: parse(text, { uniqueKeys: true }) as Index };
  }

  /** `helm pull`. */
  async pull(name: string, version: string): Promise<Uint8Array> {
    const { index } = await this.index('helm pull');
    const entry = index.entries[name]!.find((one) => one.version === version)!;
    const url = new URL(entry.urls[0], `${this.repository}/`).href;
    const headers = { ...this.headers, 'user-agent': 'Helm/3.16.4' };
    const answer = await this.log.send({ about: 'helm pull', method: 'GET', url, headers });
    const content = new Uint8Array(await answer.arrayBuffer());
    expect(sha256(content)).toBe(entry.digest);
    return content;
  }

  /** `helm cm-push`. Returns the text that the plugin shows. */
  async push(archive: Buffer): Promise<string> {
    const found = await this.index('helm cm-push');
    if (found.status !== 200) return `${found.status}`;
    const { origin, pathname } = new URL(this.repository);
    const { contextPath } = found.index.serverInfo;
    const url = `${origin}${contextPath}/api${pathname.slice(contextPath.length)}/charts`;
    const body = new FormData();
    body.append('chart', new Blob([new Uint8Array(archive)]), 'chart.tgz');
    const answer = await this.log.send({ about: 'helm cm-push', method: 'POST', url, headers: this.headers, body });
    const text = await answer.text();
    return [201, 202].includes(answer.status) ? 'Done.' : `${answer.status}: ${JSON.parse(text).error}`;
  }
}

/** Charts by scripted clients, through the gateway. */
describe('Helm charts', () => {
  let owner: Person;
  let project: Awaited<ReturnType<typeof projectOf>>;
  let log: RequestLog;
  let helm: (token: string | null) => ScriptedHelm;

  beforeAll(async () => {
    owner = await person('sailor');
    project = await projectOf(owner, 'charts');
    log = new RequestLog(
      new Map([
        [estate.baseUrl, '<host>'],
        [`/projects/${project.id}/`, '/projects/<project>/'],
      ]),
    );
    const repository = `${estate.baseUrl}/api/v4/projects/${project.id}/packages/helm/stable`;
    helm = (token) => new ScriptedHelm(log, repository, token === null ? {} : basic(token));
  });

  it('are pushed, listed and pulled, with every kind of caller', async () => {
    const [first, second] = [await chartOf('eggs', '1.0.0'), await chartOf('eggs', '1.1.0+nest')];
    const client = helm(owner.token);
    expect([await client.push(first), await client.push(second), await client.push(second)]).toEqual([
      ...['Done.', 'Done.', 'Done.'],
    ]);
    expect(sha256(await client.pull('eggs', '1.0.0'))).toBe(sha256(first));
    expect(sha256(await client.pull('eggs', '1.1.0+nest'))).toBe(sha256(second));
    const { index } = await client.index('helm repo update');
    expect(index.entries['eggs']).toMatchObject([
      { version: '1.1.0+nest', appVersion: '1.10' },
      { version: '1.0.0', appVersion: '1.10' },
    ]);
    expect((await helm(null).index('helm repo add, private, anonymous')).status).toBe(401);
    expect((await helm('glpat-wrong').index('helm repo add, wrong token')).status).toBe(401);
    const reader = await person('passenger');
    await addMember(project.id, reader, 20, owner);
    expect(await helm(reader.token).push(first)).toBe('403: Forbidden');
    const listed = await call('GET', `/projects/${project.id}/packages?package_type=helm`, { token: owner.token });
    expect(listed.body).toHaveLength(2);
    await call('DELETE', `/projects/${project.id}/packages/${listed.body[0].id}`, { token: owner.token });
    expect((await client.index('helm repo update')).index.entries['eggs']).toHaveLength(1);
    log.expectGolden('helm');
  });

  it('need no credentials in a public project, and a valid one if there is one', async () => {
    await call('PUT', `/groups/${project.group}`, { token: owner.token, json: { visibility: 'public' } });
    await call('PUT', `/projects/${project.id}`, { token: owner.token, json: { visibility: 'public' } });
    const open = await eventually(
      () => helm(null).index('public'),
      ({ status }) => status === 200,
    );
    expect(Object.keys(open.index.entries)).toEqual(['eggs']);
    expect((await helm('glpat-wrong').index('public, wrong token')).status).toBe(401);
  });
});
