import type { UpstreamKind } from '../../sources/upstream-hosts';
import type { ObjectList } from './object-list';
import { chooseRemoteImportLists } from './remote-lists';
import { repohostLists } from './repohost-lists';
import { repohostServerLists } from './repohost-server-lists';

/** Choices of a user about the lists of an import. */
export interface ListChoice {
  readonly single_endpoint_notes: boolean;
}

/** Returns the lists of a kind of host, in the order of the stages. */
export function chooseImportLists(kind: UpstreamKind, choice: ListChoice): readonly ObjectList[] {
  if (kind === 'remote') return chooseRemoteImportLists(choice);
  return { repohost_server: repohostServerLists, repohost: repohostLists }[kind];
}
