import { bool, presenter, text } from '@rookery/api-v4';
import type { FileDiff } from './read-diffs';

/** Mode of a file that does not exist. Source: reference repositories 4.3. */
const NO_MODE = '0';

/** A changed file. Source: reference repositories 4.3. */
export const diffPresenter = presenter<FileDiff>('Diff').fields({
  diff: [text, (file) => file.text, { about: 'Hunks of the patch; empty if there are none or if they are not shown.' }],
  collapsed: [
    bool,
    ({ state }) => state === 'collapsed',
    { about: 'The patch is not shown, because the diff is large.' },
  ],
  too_large: [
    bool,
    ({ state }) => state === 'too large',
    { about: 'The patch is not shown, because it is too large.' },
  ],
  new_path: [text, ({ change }) => change.newPath, { about: 'Path after the change; of a deleted file the old one.' }],
  old_path: [text, ({ change }) => change.oldPath, { about: 'Path before the change; of an added file the new one.' }],
  a_mode: [
    text,
    ({ change }) => (change.status === 'added' ? NO_MODE : change.oldMode),
    { about: 'Mode before the change.' },
  ],
  b_mode: [
    text,
    ({ change }) => (change.status === 'deleted' ? NO_MODE : change.newMode),
    { about: 'Mode after the change.' },
  ],
  new_file: [bool, ({ change }) => change.status === 'added', { about: 'The file was added.' }],
  renamed_file: [bool, ({ change }) => change.status === 'renamed', { about: 'The file was renamed.' }],
  deleted_file: [bool, ({ change }) => change.status === 'deleted', { about: 'The file was deleted.' }],
  generated_file: [bool, () => false, { about: 'Always false: attributes of files are not read.' }],
});
