import { Injectable } from '@nestjs/common';
import type { NoteableType } from '@rookery/contracts';
import type { NoteableWithParent, PlanningSource } from './planning.policy';

/** Finds noteables of a kind that paths name by a text instead of a column, such as commits by a branch. */
export interface NoteableFinder {
  /** Finds the noteable. The result has `isUntouched` if the noteable has no row yet. Errors: NotFound. */
  findCommit(parent: PlanningSource, named: string): Promise<NoteableWithParent>;
  /** Finds the noteable for a new note, and adds its row if it has none. Errors: NotFound. */
  findOrAdd(parent: PlanningSource, named: string): Promise<NoteableWithParent>;
}

/** Finders that wings declare for their kinds, because discussions know no repositories. */
@Injectable()
export class NoteableFinders {
  private readonly finders = new Map<NoteableType, NoteableFinder>();

  /** Adds the finder of a kind at start-up. */
  declare(type: NoteableType, finder: NoteableFinder): void {
    this.finders.set(type, finder);
  }

  /** Errors: a plain Error for a kind without a finder. */
  requireFinder(type: NoteableType): NoteableFinder {
    const finder = this.finders.get(type);
    if (!finder) throw new Error(`no wing finds noteables of the type ${type}`);
    return finder;
  }
}
