import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Gitlab } from '@gitbeaker/rest';
import { requireDebianPackages } from '../support/debian-packages';
import { estate, mark } from '../support/estate';

const run = promisify(execFile);
const DEPLOY = 'org.apache.maven.plugins:maven-deploy-plugin:3.0.0:deploy-file';
const GET = 'org.apache.maven.plugins:maven-dependency-plugin:3.5.0:get';

interface Ended {
  readonly ok: boolean;
  readonly output: string;
}

/** Maven packages by mvn, Gradle and curl, unmodified. */
describe('maven packages', () => {
  const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
  const groupPath = `maven-${mark}`;
  let projectId: number;
  let urls: { project: string; group: string; instance: string };
  let folder: string;
  let jar: string;

  beforeAll(async () => {
    requireDebianPackages(
      'maven',
      'libmaven-deploy-plugin-java',
      'libmaven-dependency-plugin-java',
      'junit4',
      'gradle',
    );
    folder = mkdtempSync(join(tmpdir(), 'rookery-maven-'));
    const { id } = await root.Groups.create(groupPath, groupPath);
    projectId = (await root.Projects.create({ name: 'app', namespaceId: id, visibility: 'private' })).id;
    const api = `${estate.baseUrl}/api/v4`;
    urls = {
      project: `${api}/projects/${projectId}/packages/maven`,
      group: `${api}/groups/${id}/-/packages/maven`,
      instance: `${api}/packages/maven`,
    };
    for (const server of ['basic', 'wrong'])
      for (const [level, url] of Object.entries(urls))
        writeFileSync(join(folder, `${server}-${level}.xml`), settings(server, url));
    jar = join(folder, 'build.jar');
    writeFileSync(jar, randomBytes(64 * 1024));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /**
   * Plugins come from the distribution's packages. `basic` and `header` are two ways to log in. The packages come from
   * one repository, and a wrong checksum fails the build.
   */
  const settings = (server: string, url: string): string => `<settings>
    <interactiveMode>false</interactiveMode>
    <mirrors>
      <mirror><id>distribution</id><mirrorOf>central</mirrorOf><url>file:///usr/share/maven-repo</url></mirror>
    </mirrors>
    <servers>
      <server><id>basic</id><username>anybody</username><password>${estate.rootToken}</password></server>
      <server><id>wrong</id><username>anybody</username><password>wrong</password></server>
      <server><id>header</id><configuration><httpHeaders>
        <property><name>Private-Token</name><value>${estate.rootToken}</value></property>
      </httpHeaders></configuration></server>
    </servers>
    <profiles><profile><id>packages</id><repositories><repository>
      <id>${server}</id>
      <url>${url}</url>
      <releases><checksumPolicy>fail</checksumPolicy></releases>
      <snapshots><checksumPolicy>fail</checksumPolicy><updatePolicy>always</updatePolicy></snapshots>
    </repository></repositories></profile></profiles>
    <activeProfiles><activeProfile>packages</activeProfile></activeProfiles>
  </settings>`;

  const program = async (name: string, args: readonly string[], cwd = folder): Promise<Ended> => {
    try {
      const { stdout, stderr } = await run(name, args, { cwd, maxBuffer: 64 * 1024 * 1024 });
      return { ok: true, output: stdout + stderr };
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      return { ok: false, output: stdout + stderr };
    }
  };
  const mvn = (level: string, goal: string, ...args: string[]): Promise<Ended> =>
    inRepository('local', level, goal, ...args);
  /** Two mvn at the same time need local repositories of their own, where each writes the metadata that it downloads. */
  const inRepository = (local: string, level: string, goal: string, ...args: string[]): Promise<Ended> =>
    program('mvn', ['-B', '-U', '-s', `${level}.xml`, `-Dmaven.repo.local=${join(folder, local)}`, goal, ...args]);
  interface Deployed {
    readonly group?: string;
    readonly artifact?: string;
    readonly file?: string;
    readonly local?: string;
  }
  const deploy = (server: string, version: string, o: Deployed = {}) =>
    inRepository(
      o.local ?? 'local',
      'basic-project',
      DEPLOY,
      ...[`-Dfile=${o.file ?? jar}`, `-DgroupId=${o.group ?? 'com.acme'}`, `-DartifactId=${o.artifact ?? 'lib'}`],
      ...[`-Dversion=${version}`, '-Dpackaging=jar', `-Durl=${urls.project}`, `-DrepositoryId=${server}`],
    );
  const resolve = async (level: string, coordinates: string): Promise<Ended & { file: string }> => {
    const [group, artifact, version] = coordinates.split(':') as [string, string, string];
    const local = join(folder, 'local', ...group.split('.'));
    rmSync(local, { recursive: true, force: true });
    const ended = await mvn(level, GET, `-Dartifact=${coordinates}`);
    return { ...ended, file: join(local, artifact, version, `${artifact}-${version}.jar`) };
  };
  const curl = async (...args: string[]): Promise<{ status: number; body: string }> => {
    const { stdout } = await run('curl', ['-s', '-w', '\n%{http_code}', ...args]);
    const at = stdout.lastIndexOf('\n');
    return { status: Number(stdout.slice(at + 1)), body: stdout.slice(0, at) };
  };
  const token = ['-H', `PRIVATE-TOKEN: ${estate.rootToken}`];
  const sha = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
  const expectEnded = ({ ok, output }: Ended): void => expect(ok ? '' : output).toBe('');

  it('go up with mvn by header, and come down by user and password from project, group and instance', async () => {
    expectEnded(await deploy('header', '1.0'));
    expectEnded(await deploy('header', '1.0', { group: groupPath, artifact: 'app' }));
    for (const [level, coordinates] of [
      ['basic-project', 'com.acme:lib:1.0'],
      ['basic-group', 'com.acme:lib:1.0'],
      ['basic-instance', `${groupPath}:app:1.0`],
    ] as const) {
      const resolved = await resolve(level, coordinates);
      expectEnded(resolved);
      expect(sha(resolved.file)).toBe(sha(jar));
    }
    const found = await root.Packages.all({ projectId, packageName: 'com/acme/lib' });
    expect(found).toMatchObject([{ name: 'com/acme/lib', version: '1.0', package_type: 'maven' }]);
  });

  it('tell mvn users of a wrong token', async () => {
    const up = await deploy('wrong', '1.0');
    expect([up.ok, up.output]).toEqual([false, expect.stringContaining('401')]);
    const down = await resolve('wrong-project', 'com.acme:lib:1.0');
    expect([down.ok, down.output]).toEqual([false, expect.stringContaining('401')]);
  });

  it('number the builds of a snapshot, and keep the older ones', async () => {
    const contents = ['one', 'two', 'three'].map((text) => {
      const file = join(folder, `${text}.jar`);
      writeFileSync(file, text);
      return file;
    });
    for (const file of contents) expectEnded(await deploy('basic', '2.0-SNAPSHOT', { artifact: 'snap', file }));
    const { body } = await curl(...token, `${urls.project}/com/acme/snap/2.0-SNAPSHOT/maven-metadata.xml`);
    expect(body).toContain('<buildNumber>3</buildNumber>');
    const newest = await resolve('basic-project', 'com.acme:snap:2.0-SNAPSHOT');
    expectEnded(newest);
    expect(readFileSync(newest.file, 'utf8')).toBe('three');
    const [{ id }] = (await root.Packages.all({ projectId, packageName: 'com/acme/snap' })) as unknown as [
      { id: number },
    ];
    const names = (await root.Packages.allFiles(projectId, id)).map(({ file_name }) => String(file_name));
    const first = names.find((name) => /-1\.jar$/.test(name))!;
    expect((await curl(...token, `${urls.project}/com/acme/snap/2.0-SNAPSHOT/${first}`)).body).toBe('one');
  });

  it('lose no version of deployments at the same time', async () => {
    const versions = ['3.1', '3.2', '3.3'];
    const ended = await Promise.all(
      versions.map((version) => deploy('basic', version, { artifact: 'busy', local: `local-${version}` })),
    );
    ended.forEach(expectEnded);
    const { body } = await curl(...token, `${urls.project}/com/acme/busy/maven-metadata.xml`);
    for (const version of versions) expect(body).toContain(`<version>${version}</version>`);
    expect(body).toMatch(/<release>3\.[123]<\/release>/);
  });

  /** Gradle of the distribution publishes to Maven repositories through Ivy only. */
  it('go up with Gradle in the layout of Maven, and come down again', async () => {
    const home = join(folder, 'gradle-home');
    const build = join(folder, 'glib');
    for (const path of [home, build]) mkdirSync(path);
    const repository = (rest: string): string => `url '${urls.project}'
      credentials { username 'anybody'; password '${estate.rootToken}' }
      ${rest}`;
    writeFileSync(join(build, 'settings.gradle'), `rootProject.name = 'glib'`);
    writeFileSync(
      join(build, 'build.gradle'),
      `apply plugin: 'java'
       apply plugin: 'ivy-publish'
       group = 'com.gradle.acme'
       version = '1.5'
       publishing {
         publications { lib(IvyPublication) { from components.java } }
         repositories { ivy { ${repository(`layout 'maven'`)} } }
       }
       repositories { maven { ${repository('')} } }
       configurations { fetched }
       dependencies { fetched 'com.acme:lib:1.+' }
       task fetch(type: Copy) { from configurations.fetched; into 'out' }`,
    );
    const gradle = (task: string): Promise<Ended> => program('gradle', ['--no-daemon', '-q', '-g', home, task], build);
    expectEnded(await gradle('publish'));
    const { status, body } = await curl(...token, `${urls.project}/com/gradle/acme/glib/1.5/ivy-1.5.xml`);
    expect([status, body]).toEqual([200, expect.stringContaining('module="glib"')]);
    expectEnded(await gradle('fetch'));
    expect(readdirSync(join(build, 'out'))).toEqual(['lib-1.0.jar']);
  });

  it('answer curl with heads, ranges, digests, and 405 for a verb of WebDAV', async () => {
    const url = `${urls.project}/com/acme/curl/1.0/curl-1.0.jar`;
    const up = await curl(...token, '--upload-file', jar, '-D', '-', url);
    expect(up.status).toBe(200);
    expect(up.body.toLowerCase()).toContain('content-length: 0');
    const piped = await curl(...token, '-H', 'Transfer-Encoding: chunked', '--upload-file', jar, url);
    expect(piped.status).toBe(200);
    expect((await curl(...token, '-I', url)).body.toLowerCase()).toContain(`content-length: ${64 * 1024}`);
    expect((await curl(...token, '-r', '0-9', '-o', '/dev/null', url)).status).toBe(206);
    expect((await curl(...token, `${url}.sha256`)).body).toBe(sha(jar));
    expect((await curl(...token, '-X', 'MKCOL', url)).status).toBe(405);
    const anonymous = await curl('-D', '-', url);
    expect(anonymous.status).toBe(401);
    expect(anonymous.body.toLowerCase()).toContain('www-authenticate: basic realm="gitlab packages registry"');
  });

  it('take a token in headers that clients can be told to send, and no wrong one', async () => {
    const url = `${urls.project}/com/acme/lib/1.0/lib-1.0.pom`;
    const sent = async (header: string, value: string): Promise<number> =>
      (await curl('-H', `${header}: ${value}`, '-o', '/dev/null', url)).status;
    for (const header of ['Private-Token', 'Deploy-Token']) expect(await sent(header, estate.rootToken)).toBe(200);
    for (const header of ['Private-Token', 'Job-Token', 'Deploy-Token']) expect(await sent(header, 'wrong')).toBe(401);
  });
});
