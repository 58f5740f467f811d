import { Inject, Injectable } from '@nestjs/common';
import { jsonPageOf } from '@rookery/kernel';
import type { JsonPage, PageRequest } from '@rookery/kernel';
import { Database, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { Statement, Tx } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { jsonArraySql } from '../../base/noteables/json.shape';
import type { ShapeSql } from '../../base/noteables/json.shape';
import type { NoteableWithParent } from '../../base/noteables/planning.policy';
import { commitCommentShape } from './commit-comment.shape';

interface CommitCommentPageRow {
  readonly counted: number;
  readonly json: string | null;
}

const NO_COMMENTS: JsonPage = { json: '[]', total: 0, hasNext: false };
const JOINS = `left join directory_users a on a.id = n.author_id
  left join note_positions p on p.thread_id = n.thread_id`;

/** Statements on the comments of commits. */
export class CommitCommentStatements {
  private readonly kept = new CachedStatements();
  private readonly shape: ShapeSql;

  constructor(externalUrl: string) {
    this.shape = commitCommentShape.toSql({ externalUrl });
  }

  /** Selects one comment. */
  noteStatement(note: number): Statement<{ readonly json: string }> {
    const values = { note };
    return this.kept.findOrCompose('commit_comments_one', values, () => ({
      text: `select ${this.shape.sql} as json from notes n ${JOINS} where n.id = :note::bigint`,
      values,
    }));
  }

  /** Selects a page of the comments on a commit, oldest first, with the number of all. */
  pageStatement(commit: number, page: PageRequest): Statement<CommitCommentPageRow> {
    const values = { commit };
    return this.kept.findOrCompose(isUsualPage(page) ? `commit_comments_page_${page.perPage}` : null, values, () => {
      const list = new ListQuery<never>({
        name: 'commit_comments',
        from: 'notes n',
        carries: 'n.*',
        joins: JOINS,
        bytes: 'octet_length(n.body)',
        values,
      })
        .where(`n.noteable_id = i.id and n.noteable_type = 'Commit' and not n.system`)
        .orderBy([['n.created_at', 'asc']]);
      const rows = list.arraySql(page, (...of) => jsonArraySql(this.shape, ...of));
      const text = `select i.public_notes_count as counted, ${rows} as json from discussed_commits i where i.id = :commit::bigint`;
      return { text, values: list.values };
    });
  }
}

/** Queries for comments on commits. Returns JSON text. Source: reference repositories 4.6. */
@Injectable()
export class CommitCommentsQueries {
  readonly statements: CommitCommentStatements;

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.statements = new CommitCommentStatements(externalUrl);
  }

  async list({ named }: NoteableWithParent, page: PageRequest): Promise<JsonPage> {
    const [row] = await this.database.run(this.statements.pageStatement(named, page));
    return row ? jsonPageOf(page, { ...row, has_more: null }) : NO_COMMENTS;
  }

  /** Shows a comment that the same transaction wrote. */
  async findWritten(tx: Tx, note: number): Promise<string> {
    const [row] = await tx.run(this.statements.noteStatement(note));
    return row!.json;
  }
}
