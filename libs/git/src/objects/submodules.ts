import { invalidGitArgument } from '../process/git-error';
import type { ObjectId } from '../names/object-id';
import type { Repository } from '../repository/repository';

/** Names under which git or a file system that ignores case finds the list of submodules. */
const LIST_NAME = /^(?:\.gitmodules|gitmod~\d+|gi7eb[0-9a-f]~\d+)[ .]*$/i;
const SETTING = /^submodule\.([^\n]*)\.(url|path|update)(?:\n([^]*))?$/;

/** Values that reach a command line or leave the folder of submodules in an old client, as in git's `fsck.c`. */
const UNSAFE: Readonly<Record<string, RegExp>> = { url: /^-|\n|%0a/i, path: /^-/, update: /^!/ };

/** Whether a name in a tree is that of the list of submodules. */
export function isGitmodulesName(name: string): boolean {
  return LIST_NAME.test(name);
}

/** Checks a `.gitmodules` by the rules that fsck holds pushes to. Errors: GitError `invalid`. */
export async function checkGitmodulesBlob(repository: Repository, id: ObjectId): Promise<void> {
  // A file that is no configuration passes, as in fsck.
  const accepts = [0, 1, 3, 128];
  const { stdout } = await repository.run({ args: ['config', '--list', '-z', `--blob=${id}`], accepts });
  for (const record of stdout.toString().split('\0')) {
    const [, name = '', setting = '', value = ''] = SETTING.exec(record) ?? [];
    if (setting === '') continue;
    const isNameSafe = name !== '' && !name.split(/[/\\]/).includes('..');
    if (!isNameSafe || UNSAFE[setting]!.test(value)) throw invalidGitArgument('The list of submodules is unsafe.');
  }
}
