import { Inject, Injectable } from '@nestjs/common';
import { awardEmojiCreated } from '@rookery/contracts';
import type { JsonPage, PageRequest, SignedInViewer, Viewer } from '@rookery/kernel';
import { jsonPageOf, NotFound, Unauthorized } from '@rookery/kernel';
import { Database, Work } from '@rookery/persistence';
import type { SqlReader, Tx } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { cachePerNoteableKindAndColumn } from '../../base/noteables/reader';
import type { NoteableReference } from '../../base/noteables/reader';
import { requireVisibleNote, toNoteReaderParams } from '../notes/notes.queries';
import { AwardStatements } from './award-emoji.statements';
import type { AwardedParams } from './award-emoji.statements';
import { canonicalEmojiName } from './emoji-names';

/** Target of an emoji: a noteable, or one of its notes. */
export interface Awardable {
  readonly on: NoteableReference;
  /** Null means the noteable itself. */
  readonly noteId: number | null;
}

/** Lists, creates and deletes emoji. Returns JSON text. Source: reference work-tracking 9.6. */
@Injectable()
export class AwardEmojiService {
  readonly statementsOf: (awardable: Awardable) => AwardStatements;

  constructor(
    private readonly database: Database,
    private readonly work: Work,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    const ofNoteables = cachePerNoteableKindAndColumn(
      (kind, by) => new AwardStatements(kind, by, 'noteable', externalUrl),
    );
    const ofNotes = cachePerNoteableKindAndColumn((kind, by) => new AwardStatements(kind, by, 'note', externalUrl));
    this.statementsOf = ({ on, noteId }) => (noteId === null ? ofNoteables(on) : ofNotes(on));
  }

  async list(viewer: Viewer, awardable: Awardable, page: PageRequest): Promise<JsonPage> {
    const statement = this.statementsOf(awardable).pageStatement(page, awardParams(viewer, awardable));
    const [row] = await this.database.run(statement);
    return jsonPageOf(page, requireVisibleNote(row, awardable.on.kind));
  }

  async show(viewer: Viewer, awardable: Awardable, id: number): Promise<string> {
    return (await this.findAward(this.database, viewer, awardable, id)).json;
  }

  /** Awards an emoji. Errors: NotFound, with the API's messages, also if the user may not award it. */
  create(viewer: SignedInViewer, awardable: Awardable, alias: string): Promise<string> {
    return this.work.run((tx) => this.createInTransaction(tx, viewer, awardable, alias));
  }

  /** Awards an emoji inside an existing transaction. */
  async createInTransaction(tx: Tx, viewer: SignedInViewer, awardable: Awardable, alias: string): Promise<string> {
    const { on } = awardable;
    const name = canonicalEmojiName(alias);
    const values = { ...awardParams(viewer, awardable), name: name ?? '' };
    if (name === undefined || on.parent.archived) {
      requireVisibleNote((await this.selectAward(tx, viewer, awardable, 0))[0], on.kind);
      throw new NotFound(name === undefined ? 'Award Emoji Name is not a valid emoji name' : 'Award Emoji');
    }
    await this.lockAwardable(tx, viewer, awardable);
    const [row] = await tx.run(this.statementsOf(awardable).statement('create', values));
    const created = requireVisibleNote(row, on.kind);
    if (created.json === null) {
      const isAllowed = !created.system && !(created.locked && !values.is_member);
      throw new NotFound(isAllowed ? 'Award Emoji Name has already been taken' : 'Award Emoji');
    }
    tx.emit(
      awardEmojiCreated.of({
        aggregateId: created.award_id!,
        actorId: viewer.userId,
        seen: viewer.directory,
        data: {
          award_emoji_id: created.award_id!,
          noteable_type: on.kind.type,
          noteable_id: created.noteable_id,
          note_id: awardable.noteId,
          project_id: on.kind.parent === 'project' ? on.parent.id : null,
          group_id: on.kind.parent === 'group' ? on.parent.id : null,
          author_id: viewer.userId,
          created_at: created.created_at.toISOString(),
        },
      }),
    );
    return created.json;
  }

  /** Removes an emoji. Errors: Unauthorized unless the viewer awarded it or is an administrator. */
  async remove(viewer: SignedInViewer, awardable: Awardable, id: number): Promise<void> {
    await this.work.run(async (tx) => {
      await this.lockAwardable(tx, viewer, awardable);
      const award = await this.findAward(tx, viewer, awardable, id);
      if (award.user_id !== viewer.userId && !viewer.isAdmin) throw new Unauthorized();
      const removed = await tx.run(
        this.statementsOf(awardable).statement('remove', { ...awardParams(viewer, awardable), award: id }),
      );
      if (removed.length === 0) throw new NotFound();
    });
  }

  /**
   * Locks the noteable. A separate statement, so that after a wait the next one reads the current noteable, note and
   * votes.
   */
  private async lockAwardable(tx: Tx, viewer: Viewer, awardable: Awardable): Promise<void> {
    await tx.run(this.statementsOf(awardable).statement('hold', awardParams(viewer, awardable)));
  }

  private async findAward(reads: SqlReader, viewer: Viewer, awardable: Awardable, id: number) {
    const row = requireVisibleNote((await this.selectAward(reads, viewer, awardable, id))[0], awardable.on.kind);
    if (row.json === null) throw new NotFound();
    return { ...row, json: row.json };
  }

  private selectAward(reads: SqlReader, viewer: Viewer, awardable: Awardable, id: number) {
    return reads.run(this.statementsOf(awardable).statement('one', { ...awardParams(viewer, awardable), award: id }));
  }
}

/** Returns the parameters of all statements. */
function awardParams(viewer: Viewer, { on, noteId }: Awardable): AwardedParams {
  return { ...toNoteReaderParams(viewer, on), note: noteId };
}
