import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requireDebianPackages } from '../support/debian-packages';
import { addMember, call, estate, eventually, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';

/** NuGet 2 of Debian, unmodified, in a home of its own. It speaks version 2 of the protocol only. */
class Nuget {
  readonly folder = mkdtempSync(join(tmpdir(), 'rookery-nuget-'));

  constructor(private readonly source: string) {}

  /** A command against the feed, with Basic credentials that the client sends after a challenge. */
  private command(token: string | null, command: string, words: readonly string[]) {
    const home = mkdtempSync(join(this.folder, 'home-'));
    const config = join(home, 'nuget.config');
    const credentials = `<packageSourceCredentials><nest><add key="Username" value="anybody"/>
      <add key="ClearTextPassword" value="${token}"/></nest></packageSourceCredentials>`;
    writeFileSync(
      config,
      `<configuration><packageSources><clear/><add key="nest" value="${this.source}"/></packageSources>
       ${token === null ? '' : credentials}</configuration>`,
    );
    const about = ['-Source', this.source, '-ConfigFile', config, '-NonInteractive'];
    const env = { PATH: process.env['PATH'], HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
    return ['nuget', [command, ...words, ...about], { cwd: this.folder, env, timeout: 60_000 }] as const;
  }

  run(token: string | null, command: string, ...words: readonly string[]): Promise<[number, string]> {
    const [file, args, options] = this.command(token, command, words);
    return new Promise((resolve) => {
      execFile(file, args, options, (error, out, err) => resolve([error === null ? 0 : 1, `${out}${err}`]));
    });
  }

  /** Runs a command that has to succeed. Returns what it printed. */
  async succeed(token: string | null, command: string, ...words: readonly string[]): Promise<string> {
    const [code, text] = await this.run(token, command, ...words);
    if (code !== 0) throw new Error(`nuget ${command} ended with ${code}:\n${text}`);
    return text;
  }

  /** Lists packages as in a terminal: without one, this client on Mono prints blank lines without end. */
  async list(token: string | null, ...words: readonly string[]): Promise<string> {
    const [file, args, options] = this.command(token, 'list', words);
    const { stdout } = await promisify(execFile)(
      'script',
      ['-qec', `stty cols 200; ${[file, ...args].map((word) => `'${word}'`).join(' ')}`, '/dev/null'],
      { ...options, env: { ...options.env, TERM: 'xterm' } },
    );
    return stdout;
  }

  /** Packs a package by the client. Returns the name of the file: the client takes no absolute path. */
  async pack(id: string, version: string, dependencies = ''): Promise<string> {
    const folder = join(this.folder, `${id}.${version}`);
    mkdirSync(join(folder, 'content'), { recursive: true });
    writeFileSync(join(folder, 'content/eggs.txt'), `${id} ${version}`);
    writeFileSync(
      join(folder, `${id}.nuspec`),
      `<?xml version="1.0"?><package><metadata><id>${id}</id><version>${version}</version><authors>Ada</authors>
       <description>Eggs.</description>${dependencies}</metadata>
       <files><file src="content/eggs.txt" target="content/eggs.txt"/></files></package>`,
    );
    const { code, text } = await new Promise<{ code: number; text: string }>((resolve) => {
      const words = ['pack', `${id}.nuspec`, '-OutputDirectory', this.folder];
      execFile('nuget', words, { cwd: folder, env: { ...process.env, HOME: this.folder } }, (error, out, err) =>
        resolve({ code: error === null ? 0 : 1, text: `${out}${err}` }),
      );
    });
    if (code !== 0) throw new Error(text);
    return `${id}.${version}.nupkg`;
  }

  installed(target: string, id: string, version: string): string {
    return readFileSync(join(this.folder, target, `${id}.${version}`, 'content/eggs.txt'), 'utf8');
  }
}

/** NuGet packages by the client of Debian, through the gateway. */
describe('NuGet packages in a feed of version 2', () => {
  let owner: Person;
  let project: Awaited<ReturnType<typeof projectOf>>;
  let nuget: Nuget;

  beforeAll(async () => {
    requireDebianPackages('nuget');
    owner = await person('hatcher');
    project = await projectOf(owner, 'feeds');
    nuget = new Nuget(`${estate.baseUrl}/api/v4/projects/${project.id}/packages/nuget/v2`);
  });
  afterAll(() => rmSync(nuget.folder, { recursive: true, force: true }));

  it('are pushed, listed, installed with dependencies and deleted', async () => {
    const needs = '<dependencies><dependency id="Nest.Twigs" version="1.0"/></dependencies>';
    const archives = [
      await nuget.pack('Nest.Twigs', '1.0.0'),
      await nuget.pack('Nest.Eggs', '1.0.0', needs),
      await nuget.pack('Nest.Eggs', '1.1.0', needs),
      await nuget.pack('Nest.Eggs', '2.0.0-rc1', needs),
    ];
    for (const archive of archives)
      expect(await nuget.succeed(owner.token, 'push', archive, owner.token)).toContain('Your package was pushed.');
    expect(await nuget.list(owner.token, 'eggs')).toContain('Nest.Eggs 1.1.0');
    const all = await nuget.list(owner.token, '-AllVersions', '-Prerelease');
    for (const line of ['Nest.Eggs 1.0.0', 'Nest.Eggs 1.1.0', 'Nest.Eggs 2.0.0-rc1', 'Nest.Twigs 1.0.0'])
      expect(all).toContain(line);
    await nuget.succeed(owner.token, 'install', 'nest.eggs', '-OutputDirectory', 'newest');
    expect(nuget.installed('newest', 'Nest.Eggs', '1.1.0')).toBe('Nest.Eggs 1.1.0');
    expect(nuget.installed('newest', 'Nest.Twigs', '1.0.0')).toBe('Nest.Twigs 1.0.0');
    await nuget.succeed(owner.token, 'install', 'Nest.Eggs', '-Version', '1.0', '-OutputDirectory', 'exact');
    expect(nuget.installed('exact', 'Nest.Eggs', '1.0.0')).toBe('Nest.Eggs 1.0.0');
    await nuget.succeed(owner.token, 'install', 'Nest.Eggs', '-Prerelease', '-OutputDirectory', 'early');
    expect(nuget.installed('early', 'Nest.Eggs', '2.0.0-rc1')).toBe('Nest.Eggs 2.0.0-rc1');
    await nuget.succeed(owner.token, 'delete', 'Nest.Eggs', '1.1.0', owner.token);
    expect(await nuget.list(owner.token, 'eggs')).toContain('Nest.Eggs 1.0.0');
  });

  it('are refused with reasons, and need no credentials in a public project', async () => {
    const archive = await nuget.pack('Nest.Moss', '1.0.0');
    expect(await nuget.run(owner.token, 'push', archive, 'glpat-wrong')).toEqual([
      1,
      expect.stringContaining('Please provide credentials'),
    ]);
    await nuget.succeed(owner.token, 'push', archive, owner.token);
    const reader = await person('warden');
    await addMember(project.id, reader, 20, owner);
    expect(await nuget.run(reader.token, 'push', archive, reader.token)).toEqual([
      ...[1, expect.stringContaining('Forbidden')],
    ]);
    const json = { nuget_duplicates_allowed: false };
    await call('PUT', `/groups/${project.group}/packages/settings`, { token: owner.token, json });
    expect(await nuget.run(owner.token, 'push', archive, owner.token)).toEqual([
      ...[1, expect.stringContaining('A package with the same name and version already exists')],
    ]);
    expect((await nuget.run(null, 'install', 'Nest.Moss', '-OutputDirectory', 'hidden'))[0]).toBe(1);
    await nuget.succeed(reader.token, 'install', 'Nest.Moss', '-OutputDirectory', 'read');
    await call('PUT', `/groups/${project.group}`, { token: owner.token, json: { visibility: 'public' } });
    await call('PUT', `/projects/${project.id}`, { token: owner.token, json: { visibility: 'public' } });
    await eventually(
      () => nuget.run(null, 'install', 'Nest.Moss', '-OutputDirectory', 'open'),
      ([code]) => code === 0,
    );
    expect(nuget.installed('open', 'Nest.Moss', '1.0.0')).toBe('Nest.Moss 1.0.0');
  });
});
