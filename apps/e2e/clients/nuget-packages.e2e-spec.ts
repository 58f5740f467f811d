import { createHash } from 'node:crypto';
import { ZipFile } from 'yazl';
import { addMember, call, estate, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';
import { RequestLog } from '../support/request-log';

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

async function nupkgOf(id: string, version: string, more = ''): Promise<Buffer> {
  const zip = new ZipFile();
  const nuspec = `<?xml version="1.0"?><package><metadata><id>${id}</id><version>${version}</version><authors>Ada</authors><description>Eggs.</description>${more}</metadata></package>`;
  zip.addBuffer(Buffer.from(nuspec), `${id}.nuspec`);
  zip.addBuffer(Buffer.from(version), 'lib/net8.0/eggs.dll');
  zip.end();
  const parts: Buffer[] = [];
  for await (const part of zip.outputStream as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts);
}

interface Credentials {
  readonly token: string | null;
  readonly apiKey?: string;
}

/**
 * dotnet, which neither Debian nor npm have. It reads the index without credentials, sends Basic after a challenge only,
 * and pushes with a slash behind the address and the key in a header of its own.
 */
class ScriptedNuget {
  private isChallenged = false;

  constructor(
    private readonly log: RequestLog,
    private readonly source: string,
    private readonly credentials: Credentials,
  ) {}

  /** Sends a request, and again with credentials after a challenge. */
  private async send(about: string, method: string, url: string, archive?: Buffer): Promise<Response> {
    const { token, apiKey } = this.credentials;
    const body = archive === undefined ? undefined : new FormData();
    body?.append('package', new Blob([new Uint8Array(archive!)]), 'package.nupkg');
    const basic = `Basic ${Buffer.from(`anybody:${token}`).toString('base64')}`;
    const headers = {
      'user-agent': 'NuGet .NET Core MSBuild Task/6.11.0',
      'x-nuget-session-id': 'ab8d2b6e',
      ...(apiKey === undefined || method === 'GET' ? {} : { 'x-nuget-apikey': apiKey }),
      ...(this.isChallenged && token !== null ? { authorization: basic } : {}),
    };
    const answer = await this.log.send({ about, method, url, headers, ...(body ? { body } : {}) });
    const isAsked = answer.status === 401 && answer.headers.get('www-authenticate') !== null;
    if (!isAsked || this.isChallenged || token === null) return answer;
    this.isChallenged = true;
    return this.send(about, method, url, archive);
  }

  private async address(about: string, type: string): Promise<string> {
    const { resources } = (await (await this.send(about, 'GET', this.source)).json()) as {
      resources: readonly Record<string, string>[];
    };
    return resources.find((one) => one['@type'] === type)!['@id']!;
  }

  /** `dotnet nuget push`. Returns the status line, which dotnet prints. */
  async push(archive: Buffer, type = 'PackagePublish/2.0.0'): Promise<string> {
    const answer = await this.send('push', 'PUT', `${await this.address('push', type)}/`, archive);
    return `${answer.status} ${answer.statusText}`;
  }

  /** `dotnet restore`: the versions, then the package. Null if no version is found. */
  async restore(id: string, version: string): Promise<Uint8Array | null> {
    const base = await this.address('restore', 'PackageBaseAddress/3.0.0');
    const listed = await this.send('restore', 'GET', `${base}/${id.toLowerCase()}/index.json`);
    if (listed.status !== 200) return null;
    const { versions } = (await listed.json()) as { versions: readonly string[] };
    if (!versions.includes(version)) return null;
    const file = `${id.toLowerCase()}.${version}.nupkg`;
    const answer = await this.send('restore', 'GET', `${base}/${id.toLowerCase()}/${version}/${file}`);
    return new Uint8Array(await answer.arrayBuffer());
  }

  /** `dotnet package search`. */
  async search(q: string): Promise<readonly string[]> {
    const url = `${await this.address('search', 'SearchQueryService')}?q=${q}&skip=0&take=20&prerelease=false&semVerLevel=2.0.0`;
    const { data } = (await (await this.send('search', 'GET', url)).json()) as { data: readonly { id: string }[] };
    return data.map(({ id }) => id);
  }

  /** `dotnet nuget delete`. */
  async remove(id: string, version: string): Promise<number> {
    const base = await this.address('delete', 'PackagePublish/2.0.0');
    return (await this.send('delete', 'DELETE', `${base}/${id}/${version}`)).status;
  }
}

/** NuGet packages by a scripted client, through the gateway. */
describe('NuGet packages', () => {
  let owner: Person;
  let project: Awaited<ReturnType<typeof projectOf>>;
  let log: RequestLog;
  const sourceOf = (path: string): string => `${estate.baseUrl}/api/v4/${path}/packages/nuget/index.json`;
  let dotnet: (credentials: Credentials, source?: string) => ScriptedNuget;

  beforeAll(async () => {
    owner = await person('nester');
    project = await projectOf(owner, 'nugets');
    log = new RequestLog(
      new Map([
        [estate.baseUrl, '<host>'],
        [`/projects/${project.id}/`, '/projects/<project>/'],
        [`/groups/${project.group}/`, '/groups/<group>/'],
      ]),
    );
    dotnet = (credentials, source = sourceOf(`projects/${project.id}`)) => new ScriptedNuget(log, source, credentials);
  });

  it('are pushed, restored, searched and deleted, with every kind of caller', async () => {
    const [first, second] = [await nupkgOf('Nest.Eggs', '1.0'), await nupkgOf('Nest.Eggs', '1.1.0')];
    const withKey = dotnet({ token: null, apiKey: owner.token });
    const withBasic = dotnet({ token: owner.token });
    expect([await withKey.push(first), await withBasic.push(second)]).toEqual(['201 Created', '201 Created']);
    const symbols = await nupkgOf(
      'Nest.Eggs',
      '1.1.0',
      '<packageTypes><packageType name="SymbolsPackage"/></packageTypes>',
    );
    expect(await withKey.push(symbols, 'SymbolPackagePublish/4.9.0')).toBe('201 Created');
    expect(await withKey.push(symbols)).toBe('400 Validation failed: the package has symbols only');
    expect(sha256((await withBasic.restore('Nest.Eggs', '1.0.0'))!)).toBe(sha256(first));
    const ofGroup = dotnet({ token: owner.token }, sourceOf(`groups/${project.group}/-`));
    expect(sha256((await ofGroup.restore('Nest.Eggs', '1.1.0'))!)).toBe(sha256(second));
    expect([await withBasic.search('EGGS'), await ofGroup.search('nest')]).toEqual([['Nest.Eggs'], ['Nest.Eggs']]);
    const json = { nuget_duplicates_allowed: false };
    await call('PUT', `/groups/${project.group}/packages/settings`, { token: owner.token, json });
    expect(await withKey.push(first)).toBe('409 A package with the same name and version already exists');
    expect(await dotnet({ token: null }).restore('Nest.Eggs', '1.0.0')).toBeNull();
    expect(await dotnet({ token: 'glpat-wrong' }).restore('Nest.Eggs', '1.0.0')).toBeNull();
    expect(await dotnet({ token: null, apiKey: 'glpat-wrong' }).push(first)).toMatch(/^401 /);
    const reader = await person('watcher');
    await addMember(project.id, reader, 20, owner);
    expect(await dotnet({ token: null, apiKey: reader.token }).push(first)).toBe('403 Forbidden');
    expect([await withKey.remove('nest.EGGS', '1.0'), await withKey.remove('Nest.Eggs', '1.0.0')]).toEqual([204, 404]);
    expect(await withBasic.restore('Nest.Eggs', '1.0.0')).toBeNull();
    log.expectGolden('nuget');
  });
});
