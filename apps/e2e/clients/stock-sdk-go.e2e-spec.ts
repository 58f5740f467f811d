import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { itWorksWithSdk } from '../support/sdk-suite';

describe('the unmodified Go client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rookery-go-'));
  const program = join(folder, 'program');
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  itWorksWithSdk({
    packages: ['golang-go', 'golang-github-xanzy-go-gitlab-dev'],
    build: ['/usr/bin/go', 'build', '-o', program, 'go-gitlab.go'],
    run: [program],
    // Debian's sources of libraries have no modules.
    environment: { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(folder, 'cache') },
  });
});
