import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Result of a program. `output` contains all that it wrote, errors included. */
export interface Finished {
  readonly status: number;
  readonly output: string;
}

/** Builds a wheel as build back-ends do, from arguments: folder, name, version, text of the module. */
const BUILD_WHEEL = `
import base64, hashlib, sys, zipfile
folder, name, version, text = sys.argv[1:]
info = f'{name}-{version}.dist-info'
files = {
  f'{name}/__init__.py': f'text = {text!r}\\n',
  f'{info}/METADATA': f'Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\nRequires-Python: >=3.6\\nSummary: For a test\\n',
  f'{info}/WHEEL': 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n',
}
digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
record = ''.join(f'{path},sha256={digest(data.encode())},{len(data)}\\n' for path, data in files.items())
target = f'{folder}/{name}-{version}-py3-none-any.whl'
with zipfile.ZipFile(target, 'w') as wheel:
  for path, data in {**files, f'{info}/RECORD': record + f'{info}/RECORD,,\\n'}.items():
    wheel.writestr(path, data)
print(target)
`;

/** pip, twine and poetry, unmodified, in a home of their own. */
export class PythonClients {
  readonly folder = mkdtempSync(join(tmpdir(), 'rookery-python-'));
  private readonly program: string;

  constructor() {
    const { TEST_PYTHON: program, TEST_PYTHON_PROBLEM: problem } = process.env;
    if (!program) throw new Error(problem ?? 'TEST_PYTHON is not set: run these tests by "npm run test:e2e"');
    this.program = program;
  }

  discard(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Writes a wheel that holds one module with a text. Returns its path. */
  async wheel(name: string, version: string, text = 'hello'): Promise<string> {
    const { status, output } = await this.run(['-c', BUILD_WHEEL, this.folder, name, version, text]);
    if (status !== 0) throw new Error(output);
    return output.trim();
  }

  twine(repository: string, token: string, ...words: readonly string[]): Promise<Finished> {
    const about = ['--repository-url', repository, '-u', '__token__', '-p', token];
    return this.run(['-m', 'twine', 'upload', '--non-interactive', '--disable-progress-bar', ...about, ...words]);
  }

  pip(...words: readonly string[]): Promise<Finished> {
    const quiet = ['--no-cache-dir', '--disable-pip-version-check', '--no-input'];
    return this.run(['-m', 'pip', ...words, ...quiet]);
  }

  /** Publishes a wheel from a project folder. */
  poetry(repository: string, token: string, ...words: readonly string[]): Promise<Finished> {
    return this.run(['-m', 'poetry', 'publish', '-r', 'nest', '--no-interaction', ...words], {
      cwd: this.project(),
      POETRY_REPOSITORIES_NEST_URL: repository,
      POETRY_HTTP_BASIC_NEST_USERNAME: '__token__',
      POETRY_HTTP_BASIC_NEST_PASSWORD: token,
    });
  }

  /** Resolves and installs a package from one index only, into a virtual environment of the project. */
  async poetryInstall(index: string, token: string, name: string): Promise<Finished & { readonly folder: string }> {
    const folder = mkdtempSync(join(this.folder, 'reader-'));
    writeFileSync(
      join(folder, 'pyproject.toml'),
      `[tool.poetry]\nname = "reader"\nversion = "1.0"\ndescription = ""\nauthors = []\n[tool.poetry.dependencies]\n` +
        `python = ">=3.8"\n${name} = "*"\n[[tool.poetry.source]]\nname = "nest"\nurl = "${index}"\ndefault = true\n`,
    );
    const finished = await this.run(['-m', 'poetry', 'install', '--no-root', '--no-interaction'], {
      ...{ cwd: folder, POETRY_VIRTUALENVS_IN_PROJECT: 'true', POETRY_CACHE_DIR: join(folder, 'cache') },
      ...{ POETRY_HTTP_BASIC_NEST_USERNAME: '__token__', POETRY_HTTP_BASIC_NEST_PASSWORD: token },
    });
    return { ...finished, folder };
  }

  /** The folder of the poetry project `poet`. */
  project(): string {
    const folder = join(this.folder, 'poet');
    mkdirSync(join(folder, 'dist'), { recursive: true });
    writeFileSync(
      join(folder, 'pyproject.toml'),
      '[tool.poetry]\nname = "poet"\nversion = "1.0"\ndescription = "For a test"\nauthors = []\n',
    );
    return folder;
  }

  run(words: readonly string[], { cwd = this.folder, ...more }: Readonly<Record<string, string>> = {}) {
    const env = { PATH: process.env['PATH'], HOME: this.folder, PYTHONPATH: process.env['TEST_PYTHONPATH'], ...more };
    const keyring = { PYTHON_KEYRING_BACKEND: 'keyring.backends.null.Keyring', PIP_CONFIG_FILE: '/dev/null' };
    return new Promise<Finished>((resolve) => {
      execFile(this.program, words, { cwd, env: { ...env, ...keyring }, timeout: 120_000 }, (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : Number(error.code ?? 1), output: `${stdout}${stderr}` });
      });
    });
  }
}
