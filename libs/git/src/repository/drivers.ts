import type { GitConfig } from '../process/environment';
import type { Repository } from './repository';

const DRIVER = /^(filter|merge)\.([^]+)\.(?:smudge|process|required|driver)$/;

/**
 * Returns configuration that turns off the filters and merge drivers of a repository. Their names are free, so the
 * fixed configuration cannot override them; attributes of pushed files can select them. Rookery configures none, but a
 * restored folder may.
 */
export async function configDisablingDrivers(repository: Repository): Promise<GitConfig> {
  const { stdout } = await repository.run({ args: ['config', '--list', '--name-only', '-z'] });
  const matches = stdout
    .toString()
    .split('\0')
    .map((name) => DRIVER.exec(name));
  const found = new Set(matches.flatMap((match) => (match ? [`${match[1]}.${match[2]}`] : [])));
  return [...found].flatMap((name): GitConfig => {
    if (name.startsWith('merge.')) return [[`${name}.driver`, 'false']];
    return [
      [`${name}.smudge`, ''],
      [`${name}.process`, ''],
      [`${name}.required`, 'false'],
    ];
  });
}
