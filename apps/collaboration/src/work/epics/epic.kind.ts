import { epicEvents } from '@rookery/contracts';
import { prepared } from '@rookery/persistence';
import { EPIC_SHOWN_AS, visibleEpicSql } from '../issues/serving/served-epic.shape';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { chunkOf } from '../../base/noteables/traces';
import { epicBytes, epicShape, followedEpicShape } from './epic.shape';

/** Epics as everything else knows them. Source: reference work-tracking 2.1, 5. */
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
  tellsEditors: true,
  abilities: ['internal-notes', 'threads', 'awards', 'todos', 'subscriptions', 'labels'],
  events: epicEvents,
  visibleSql: (reader) => visibleEpicSql(reader),
  assignees: null,
  listed: epicShape,
  listedBytes: epicBytes({}),
  detailed: followedEpicShape,
  traces: {
    own: [],
    named: [
      prepared(
        'traces_hand_over_epic_closings',
        `update epics set closed_by_id = $2::bigint where ${chunkOf('epics', 'id', 'closed_by_id = $1::bigint')}
         returning 1`,
      ),
    ],
    written: [
      prepared(
        'traces_hand_over_epics',
        `update epics set author_id = $2::bigint where ${chunkOf('epics', 'id', 'author_id = $1::bigint')} returning 1`,
      ),
    ],
  },
};
