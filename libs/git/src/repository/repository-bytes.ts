import type { Repository } from './repository';

/** Returns the size of all objects of a repository, also of unreferenced ones. Units: bytes, in steps of 1024. */
export async function repositoryBytes(repository: Repository): Promise<number> {
  const { stdout } = await repository.run({ args: ['count-objects', '-v'] });
  const sizes = [...stdout.toString().matchAll(/^size(?:-pack|-garbage)?: (\d+)$/gm)];
  return sizes.reduce((total, [, kibibytes]) => total + Number(kibibytes) * 1024, 0);
}
