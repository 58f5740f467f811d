import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { call, estate, mark } from '../support/estate';

const packageOf = (name: string): string => dirname(require.resolve(`${name}/package.json`));
const node = async (...words: string[]): Promise<string> => {
  const run = promisify(execFile)(process.execPath, words, { cwd: folder, maxBuffer: 1 << 26 });
  return (await run.catch((error) => Promise.reject(new Error(`${error.stdout}${error.stderr}`)))).stdout;
};
let folder: string;

/** The strictest TypeScript options; `exactOptionalPropertyTypes` only if the generator's own code complies. */
const options = (exactOptionalPropertyTypes: boolean, ...files: string[]): string =>
  JSON.stringify({
    compilerOptions: {
      ...{ target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'], types: ['node'], outDir: 'built' },
      ...{ module: 'commonjs', moduleResolution: 'bundler', esModuleInterop: true, skipLibCheck: true },
      ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes, noImplicitOverride: true },
    },
    files,
  });

/** Clients generated from the served OpenAPI document by two generators, compiled and run as their users would. */
describe('generated clients', () => {
  const compile = (project: string): Promise<string> => node(join(packageOf('typescript'), 'bin/tsc'), '-p', project);

  beforeAll(async () => {
    // Not below node_modules, because TypeScript does not compile files there.
    folder = mkdtempSync(join(tmpdir(), 'rookery-clients-'));
    symlinkSync(dirname(packageOf('typescript')), join(folder, 'node_modules'));
    cpSync(join(__dirname, 'bots'), folder, { recursive: true });
    writeFileSync(join(folder, 'openapi.json'), (await call('GET', '/openapi.json', { token: null })).text);
    writeFileSync(join(folder, 'fetch.json'), options(true, 'fetch-bot.ts'));
    writeFileSync(join(folder, 'sdk.json'), options(false, 'sdk-bot.ts'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('compile strictly and work', async () => {
    await node(join(packageOf('openapi-typescript'), 'bin/cli.js'), 'openapi.json', '-o', 'api.ts');
    expect(await compile('fetch.json')).toBe('');
    const results = JSON.parse(await node('built/fetch-bot.js', estate.baseUrl, estate.rootToken, mark));
    expect(results).toEqual({
      id: expect.any(Number),
      greeted: Array.from({ length: 3 }, () => 'Thank you, @root.'),
      closed: [3],
      missing: [404, { message: '404 Project Not Found' }],
    });

    await node(
      join(packageOf('@hey-api/openapi-ts'), 'bin/run.js'),
      '-i',
      'openapi.json',
      '-o',
      'sdk',
      '--no-log-file',
    );
    expect(await compile('sdk.json')).toBe('');
    expect(JSON.parse(await node('built/sdk-bot.js', estate.baseUrl, estate.rootToken, String(results.id)))).toEqual({
      confidential: true,
      titles: ['Cold (nest)', 'Cracked (nest)'],
      missing: [404, { message: '404 Project Not Found' }],
    });
    // Two compilations of 6 MB take long on a busy machine.
  }, 900_000);
});
