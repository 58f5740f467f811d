import { execFileSync } from 'node:child_process';

/**
 * Installs packages of the distribution that are missing: clients that npm does not have. Needs a Debian system and root
 * for those that are missing. Errors: a plain Error that names the packages.
 */
export function requireDebianPackages(...names: readonly string[]): void {
  const missing = names.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // Another program of the machine may be installing packages.
  const options = ['-qq', '-o', 'DPkg::Lock::Timeout=300'];
  const aptGet = (...args: string[]): void =>
    void execFileSync('apt-get', [...options, ...args], { stdio: 'ignore', env });
  const install = (): void => aptGet('install', '-y', '--no-install-recommends', ...missing);
  try {
    try {
      install();
    } catch {
      aptGet('update');
      install();
    }
  } catch (error) {
    throw new Error(`These tests need Debian packages: apt-get install ${missing.join(' ')}`, { cause: error });
  }
}

function isInstalled(name: string): boolean {
  try {
    const status = execFileSync('dpkg-query', ['-W', '-f', '${db:Status-Abbrev}', name], { stdio: 'pipe' });
    return status.toString().startsWith('ii');
  } catch {
    return false;
  }
}
