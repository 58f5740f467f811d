import { epicEvents } from '@rookery/contracts';
import { EPIC_SHOWN_AS, isEpicVisibleSql } from '../issues/epic/issue-epic.shape';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { attachedEpics } from './epic-removal';
import { epicTextBytesSql, epicShape, followedEpicShape } from './epic.shape';

/** Epics as a noteable kind. Source: reference work-tracking 2.1, 5. */
export const epicKind: NoteableKind = {
  ...EPIC_SHOWN_AS,
  type: 'Epic',
  noun: 'epic',
  word: 'epic',
  resource: 'Epic',
  table: 'epics',
  writes: { update: 'update epics i set', remove: 'delete from epics i' },
  parent: 'group',
  feature: 'epics',
  confidentialColumn: 'confidential',
  stateColumn: 'state',
  hasEditorColumns: true,
  abilities: ['internal-notes', 'threads', 'awards', 'todos', 'marking', 'subscriptions', 'labels'],
  events: epicEvents,
  visibleSql: (reader) => isEpicVisibleSql(reader),
  assignees: null,
  listed: epicShape,
  listedBytes: epicTextBytesSql({}),
  detailed: followedEpicShape,
  attached: [attachedEpics],
};
