import { createHash } from 'node:crypto';
import { addMember, call, estate, eventually, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';
import { RequestLog } from '../support/request-log';

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

/**
 * Stand-in for Terraform, because neither Debian nor npm has a package of it. It finds the registry, sends its token as
 * Bearer to the registry alone, and downloads with a library that has no credential.
 */
class ScriptedTerraform {
  constructor(
    private readonly log: RequestLog,
    private readonly names: Map<string, string>,
    private readonly token: string | null,
  ) {}

  /** `terraform init`. Returns the content, or the status of the refusal. */
  async init(module: string, version: string, about = 'terraform init'): Promise<Uint8Array | number> {
    const found = await this.send(about, `${estate.baseUrl}/.well-known/terraform.json`, {});
    const services = (await found.json()) as { 'modules.v1': string };
    const base = new URL(services['modules.v1'], estate.baseUrl).href;
    const listed = await this.send(about, `${base}${module}/versions`);
    if (listed.status !== 200) return listed.status;
    const { modules } = (await listed.json()) as { modules: { versions: { version: string }[] }[] };
    if (!modules[0]!.versions.some((one) => one.version === version)) return 404;
    const located = await this.send(about, `${base}${module}/${version}/download`);
    if (located.status !== 204) return located.status;
    return this.getter(new URL(located.headers.get('x-terraform-get')!, `${base}${module}/${version}/`));
  }

  /** As the library go-getter: removes `archive` from the address, and adds `terraform-get`. */
  private async getter(url: URL): Promise<Uint8Array | number> {
    const token = url.searchParams.get('token');
    if (token !== null) this.names.set(token, '<token>');
    url.searchParams.delete('archive');
    const headers = { 'user-agent': 'Go-http-client/1.1' };
    const head = await this.log.send({ about: 'go-getter', method: 'HEAD', url: url.href, headers });
    expect(head.headers.get('content-length')).not.toBeNull();
    url.searchParams.set('terraform-get', '1');
    const answer = await this.log.send({ about: 'go-getter', method: 'GET', url: url.href, headers });
    return answer.status === 200 ? new Uint8Array(await answer.arrayBuffer()) : answer.status;
  }

  private send(about: string, url: string, credential?: Record<string, string>): Promise<Response> {
    const known: Record<string, string> = this.token === null ? {} : { authorization: `Bearer ${this.token}` };
    const headers = { ...(credential ?? known), 'user-agent': 'Terraform/1.9.8', 'x-terraform-version': '1.9.8' };
    return this.log.send({ about, method: 'GET', url, headers });
  }
}

/** Terraform modules by a scripted client, through the gateway. */
describe('Terraform modules', () => {
  let owner: Person;
  let project: Awaited<ReturnType<typeof projectOf>>;
  let log: RequestLog;
  let module: string;
  let terraform: (token: string | null) => ScriptedTerraform;
  let upload: (version: string, content: string, headers: Record<string, string>) => Promise<string>;

  beforeAll(async () => {
    owner = await person('builder');
    project = await projectOf(owner, 'modules');
    const group = await call('GET', `/groups/${project.group}`, { token: owner.token });
    module = `${group.body.path}/vpc/aws`;
    const names = new Map([
      [estate.baseUrl, '<host>'],
      [`/projects/${project.id}/`, '/projects/<project>/'],
      [`/${group.body.path}/`, '/<group>/'],
    ]);
    log = new RequestLog(names);
    terraform = (token) => new ScriptedTerraform(log, names, token);
    upload = async (version, content, headers) => {
      const url = `${estate.baseUrl}/api/v4/projects/${project.id}/packages/terraform/modules/vpc/aws/${version}/file`;
      const answer = await log.send({ about: 'curl --upload-file', method: 'PUT', url, headers, body: content });
      return `${answer.status} ${answer.statusText}`;
    };
  });

  it('are uploaded and installed, with every kind of caller', async () => {
    const basic = { authorization: `Basic ${Buffer.from(`anybody:${owner.token}`).toString('base64')}` };
    expect(await upload('1.0.0', 'first', { 'private-token': owner.token })).toBe('201 Created');
    expect(await upload('1.1.0', 'second', basic)).toBe('201 Created');
    expect(await upload('1.1.0', 'other', basic)).toBe('403 Package version already exists.');
    expect(await upload('1.2.0', 'third', {})).toBe('401 Unauthorized');
    const content = await terraform(owner.token).init(module, '1.0.0');
    expect(sha256(content as Uint8Array)).toBe(sha256(Buffer.from('first')));
    expect(await terraform(null).init(module, '1.0.0', 'terraform init, private, anonymous')).toBe(401);
    expect(await terraform('glpat-wrong').init(module, '1.0.0', 'terraform init, wrong token')).toBe(401);
    const reader = await person('tenant');
    expect(await terraform(reader.token).init(module, '1.0.0', 'terraform init, no member')).toBe(404);
    await addMember(project.id, reader, 20, owner);
    const read = await terraform(reader.token).init(module, '1.1.0', 'terraform init, reporter');
    expect(sha256(read as Uint8Array)).toBe(sha256(Buffer.from('second')));
    expect(await upload('1.2.0', 'third', { 'private-token': reader.token })).toBe('403 Forbidden');
    const listed = await call('GET', `/projects/${project.id}/packages?package_type=terraform_module`, {
      token: owner.token,
    });
    expect(listed.body).toHaveLength(2);
    await call('DELETE', `/projects/${project.id}/packages/${listed.body[0].id}`, { token: owner.token });
    expect(await terraform(owner.token).init(module, listed.body[0].version, 'terraform init, deleted')).toBe(404);
    log.expectGolden('terraform');
  });

  it('need no credentials in a public project', async () => {
    await call('PUT', `/groups/${project.group}`, { token: owner.token, json: { visibility: 'public' } });
    await call('PUT', `/projects/${project.id}`, { token: owner.token, json: { visibility: 'public' } });
    const [kept] = (await call('GET', `/projects/${project.id}/packages`, { token: owner.token })).body;
    const content = await eventually(
      () => terraform(null).init(module, kept.version, 'public'),
      (found) => typeof found !== 'number',
    );
    expect(content).toBeInstanceOf(Uint8Array);
  });
});
