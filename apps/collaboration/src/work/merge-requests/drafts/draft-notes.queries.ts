import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { Page, PageRequest, SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { Database, ListQuery, statement } from '@rookery/persistence';
import type { SqlReader } from '@rookery/persistence';
import { requireNoteableReader } from '../../../base/noteables/reader';
import { discussionIdSql } from '../../../talk/notes/discussions/threads-sql';
import type { PositionFields } from '../../../talk/notes/positions/position-rows';
import { mergeRequestKind } from '../merge-request.kind';

/** A draft with the id of the discussion that it answers. */
export interface DraftRow {
  readonly id: number;
  readonly merge_request_id: number;
  readonly author_id: number;
  readonly body: string;
  readonly thread_id: number | null;
  readonly resolves: boolean;
  readonly position: PositionFields | null;
  readonly line_code: string | null;
  readonly commit_id: string | null;
  readonly discussion_id: string | null;
}

const COLUMNS = `d.*, case when d.thread_id is not null then ${discussionIdSql('d.thread_id')} end as discussion_id`;

const mergeRequestIdOf = statement<{ project: number; iid: number }, { readonly id: number }>(
  'draft_notes_request',
  'select i.id from merge_requests i where i.project_id = :project::bigint and i.iid = :iid::bigint',
);
const draftNoteOf = statement<{ request: number; author: number; id: number }, DraftRow>(
  'draft_notes_one',
  `select ${COLUMNS} from draft_notes d
   where d.id = :id::bigint and d.merge_request_id = :request::bigint and d.author_id = :author::bigint`,
);
const draftNotesOf = statement<{ request: number; author: number }, DraftRow>(
  'draft_notes_all',
  `select ${COLUMNS} from draft_notes d
   where d.merge_request_id = :request::bigint and d.author_id = :author::bigint order by d.id`,
);

/** Drafts of one author on a merge request. Other users never see them. Source: reference repositories 8.15. */
@Injectable()
export class DraftNotesQueries {
  constructor(private readonly database: Database) {}

  /** Returns the id of a merge request that the viewer may read. Errors: NotFound, Forbidden. */
  async requestId(viewer: SignedInViewer, project: ProjectScope, iid: number): Promise<number> {
    requireNoteableReader(viewer, { kind: mergeRequestKind, parent: project });
    const [row] = await this.database.run(mergeRequestIdOf, { project: project.id, iid });
    if (!row) throw new NotFound();
    return row.id;
  }

  async list(viewer: SignedInViewer, project: ProjectScope, iid: number, page: PageRequest): Promise<Page<DraftRow>> {
    const request = await this.requestId(viewer, project, iid);
    return new ListQuery<DraftRow>({
      name: 'draft_notes',
      from: 'draft_notes d',
      columns: COLUMNS,
      bytes: 'octet_length(d.body)',
    })
      .where((bind) => `d.merge_request_id = ${bind(request)}::bigint and d.author_id = ${bind(viewer.userId)}::bigint`)
      .orderBy([['d.id', 'asc']])
      .readPage(this.database, page);
  }

  /** Errors: NotFound, also for drafts of other authors. */
  async findDraft(
    viewer: SignedInViewer,
    request: number,
    id: number,
    reads: SqlReader = this.database,
  ): Promise<DraftRow> {
    const [row] = await reads.run(draftNoteOf, { request, author: viewer.userId, id });
    if (!row) throw new NotFound();
    return row;
  }

  listAll(viewer: SignedInViewer, request: number): Promise<DraftRow[]> {
    return this.database.run(draftNotesOf, { request, author: viewer.userId });
  }
}
