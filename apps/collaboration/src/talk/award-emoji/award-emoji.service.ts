import { Inject, Injectable } from '@nestjs/common';
import { awardEmojiCreated } from '@rookery/contracts';
import type { JsonPage, PageRequest, SignedInViewer, Viewer } from '@rookery/kernel';
import { jsonPageOf, NotFound, Unauthorized } from '@rookery/kernel';
import { Database, Work } from '@rookery/persistence';
import type { Reads, Tx } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { perNaming } from '../../base/noteables/reader';
import type { NamedNoteable } from '../../base/noteables/reader';
import { foundNote, readerValues } from '../notes/notes.queries';
import { AwardStatements } from './award-emoji.statements';
import type { AwardedParams } from './award-emoji.statements';
import { emojiNamed } from './emoji-names';

/** A thing, or a note on it. */
export interface Awardable {
  readonly on: NamedNoteable;
  /** Null: the thing itself. */
  readonly noteId: number | null;
}

/** Emoji that people give; answers are JSON text. Source: reference work-tracking 9.6. */
@Injectable()
export class AwardEmojiService {
  readonly statementsOf: (awardable: Awardable) => AwardStatements;

  constructor(
    private readonly database: Database,
    private readonly work: Work,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    const ofThings = perNaming((kind, by) => new AwardStatements(kind, by, 'thing', externalUrl));
    const ofNotes = perNaming((kind, by) => new AwardStatements(kind, by, 'note', externalUrl));
    this.statementsOf = ({ on, noteId }) => (noteId === null ? ofThings(on) : ofNotes(on));
  }

  async page(viewer: Viewer, awardable: Awardable, page: PageRequest): Promise<JsonPage> {
    const statement = this.statementsOf(awardable).page(page, valuesOf(viewer, awardable));
    const [row] = await this.database.run(statement);
    return jsonPageOf(page, foundNote(row, awardable.on.kind));
  }

  async show(viewer: Viewer, awardable: Awardable, id: number): Promise<string> {
    return (await this.one(this.database, viewer, awardable, id)).json;
  }

  /** Errors: NotFound in the words that clients know, also where an emoji may not be given. */
  create(viewer: SignedInViewer, awardable: Awardable, wished: string): Promise<string> {
    return this.work.run((tx) => this.give(tx, viewer, awardable, wished));
  }

  /** The same inside a transaction of others. */
  async give(tx: Tx, viewer: SignedInViewer, awardable: Awardable, wished: string): Promise<string> {
    const { on } = awardable;
    const name = emojiNamed(wished);
    const values = { ...valuesOf(viewer, awardable), name: name ?? '' };
    if (name === undefined || on.parent.archived) {
      foundNote((await this.looked(tx, viewer, awardable, 0))[0], on.kind);
      throw new NotFound(name === undefined ? 'Award Emoji Name is not a valid emoji name' : 'Award Emoji');
    }
    await this.hold(tx, viewer, awardable);
    const [row] = await tx.run(this.statementsOf(awardable).of('create', values));
    const made = foundNote(row, on.kind);
    if (made.json === null) {
      const isAllowed = !made.system && !(made.locked && !values.is_member);
      throw new NotFound(isAllowed ? 'Award Emoji Name has already been taken' : 'Award Emoji');
    }
    tx.emit(
      awardEmojiCreated.of({
        aggregateId: made.award_id!,
        actorId: viewer.userId,
        seen: viewer.directory,
        data: {
          award_emoji_id: made.award_id!,
          noteable_type: on.kind.type,
          noteable_id: made.noteable_id,
          note_id: awardable.noteId,
          project_id: on.kind.parent === 'project' ? on.parent.id : null,
          group_id: on.kind.parent === 'group' ? on.parent.id : null,
          author_id: viewer.userId,
          created_at: made.created_at.toISOString(),
        },
      }),
    );
    return made.json;
  }

  /** Errors: Unauthorized for everybody but who gave it and administrators. */
  async remove(viewer: SignedInViewer, awardable: Awardable, id: number): Promise<void> {
    await this.work.run(async (tx) => {
      await this.hold(tx, viewer, awardable);
      const award = await this.one(tx, viewer, awardable, id);
      if (award.user_id !== viewer.userId && !viewer.isAdmin) throw new Unauthorized();
      const gone = await tx.run(
        this.statementsOf(awardable).of('remove', { ...valuesOf(viewer, awardable), award: id }),
      );
      if (gone.length === 0) throw new NotFound();
    });
  }

  /** In a statement of its own: who waited reads the thing, its note and its votes as they are now. */
  private async hold(tx: Tx, viewer: Viewer, awardable: Awardable): Promise<void> {
    await tx.run(this.statementsOf(awardable).of('hold', valuesOf(viewer, awardable)));
  }

  private async one(reads: Reads, viewer: Viewer, awardable: Awardable, id: number) {
    const row = foundNote((await this.looked(reads, viewer, awardable, id))[0], awardable.on.kind);
    if (row.json === null) throw new NotFound();
    return { ...row, json: row.json };
  }

  private looked(reads: Reads, viewer: Viewer, awardable: Awardable, id: number) {
    return reads.run(this.statementsOf(awardable).of('one', { ...valuesOf(viewer, awardable), award: id }));
  }
}

/** Values of every statement here. */
function valuesOf(viewer: Viewer, { on, noteId }: Awardable): AwardedParams {
  return { ...readerValues(viewer, on), note: noteId };
}
