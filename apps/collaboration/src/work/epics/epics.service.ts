import { Injectable } from '@nestjs/common';
import { epicEvents } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Instance } from '@rookery/instance';
import type { SignedInViewer } from '@rookery/kernel';
import { Forbidden, Invalid } from '@rookery/kernel';
import { nextInternalId, prepared, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { CONFIDENTIAL_ISSUES_ONLY } from '../issues/confidential-epics';
import { putLabels, wishedLabels } from '../../planning/labels/labelling/labelling';
import type { LabelledThing, LabelWish } from '../../planning/labels/labelling/labelling';
import { mentionsIn } from '../../talk/mentions/mentions';
import { tellOfText } from '../../talk/mentions/referring-texts';
import type { WrittenText } from '../../talk/mentions/referring-texts';
import { NoteLimit } from '../../talk/notes/note-limit';
import { removeNotesOf } from '../../talk/notes/note-removal';
import { writeSystemNotes } from '../../talk/notes/system-notes';
import { tellState } from '../../base/resource-events/states-and-weights';
import { EpicParentsService } from './children/epic-parents.service';
import { endsOf, epicTree } from './children/epic-tree';
import { emitChange, emitOpened, notesOf } from './epic-events';
import type { EpicChange } from './epic-events';
import { lockEpic } from './epic-lock';
import type { NamedEpic } from './epic-lock';
import { Epic } from './epic.entity';
import type { EpicInput } from './epic.entity';
import { epicKind } from './epic.kind';
import { epicPolicy } from './epic.policy';
import { EpicsQueries } from './epics.queries';
import type { EpicGroup } from './epics.queries';

/** What a caller wants of an epic. */
export interface EpicWish {
  readonly fields: EpicInput;
  readonly labels: LabelWish | undefined;
  /** An epic by its id, null for none; undefined = as it is. */
  readonly parentId?: number | null | undefined;
  /** The given time of the creation or of the change; undefined = now. */
  readonly at: Date | undefined;
}

/** A wish that looks at the epic. Whoever has it holds the tree before, where the wish is about confidentiality. */
export interface WishByEpic {
  now(epic: Epic): EpicWish;
}

export type NewEpic = EpicWish & { readonly fields: { readonly title: string } };

const now = prepared('epics_now', 'select now() as at');
/** $1 epic. */
const openIssue = prepared(
  'epics_open_issue',
  `select 1 from epic_issues l join issues s on s.id = l.issue_id
   where l.epic_id = $1::bigint and not s.confidential limit 1`,
);

/** Writing epics; answers are the epic as JSON text. Times are those of the database. Source: reference work-tracking 5.5. */
@Injectable()
export class EpicsService {
  constructor(
    private readonly work: Work,
    private readonly queries: EpicsQueries,
    private readonly instance: Instance,
    private readonly directory: Directory,
    private readonly noteLimit: NoteLimit,
    private readonly parents: EpicParentsService,
  ) {}

  /** Errors: Invalid by field; of a parent Forbidden and Conflict. */
  async create(viewer: SignedInViewer, group: EpicGroup, wish: NewEpic): Promise<string> {
    await this.directory.fresh(viewer);
    const number = await this.work.run((tx) => this.openBelow(tx, viewer, group, wish));
    return this.queries.answer(viewer, group, number);
  }

  /** The same inside a transaction of others; answers the number. */
  async openBelow(tx: Tx, viewer: SignedInViewer, group: EpicGroup, wish: NewEpic): Promise<number> {
    const { parentId = null } = wish;
    if (parentId !== null) {
      this.noteLimit.count(tx, viewer);
      await epicTree.hold(tx, viewer, group.id, { ids: [parentId] });
    }
    const { id, iid, createdAt: at } = await this.open(tx, viewer, group, wish);
    if (parentId !== null) await this.parents.set(tx, group, id, parentId, { viewer, at });
    return iid;
  }

  /** The same without a parent. Errors: Invalid by field. */
  async open(tx: Tx, viewer: SignedInViewer, group: EpicGroup, wish: NewEpic): Promise<Epic> {
    const fields = { ...this.allowed(viewer, group, wish.fields), title: wish.fields.title };
    const texts = `${fields.title}\n\n${fields.description ?? ''}`;
    if (mentionsIn(texts).all.length > 0) this.noteLimit.count(tx, viewer);
    const [clock] = await tx.prepared<{ at: Date }>(now, []);
    const at = givenTime(viewer, group, wish) ?? clock!.at;
    const by = { actorId: viewer.userId, at };
    const epic = Epic.write(fields, { ...by, groupId: group.id });
    const wished = await wishedLabels(tx, group, wish.labels);
    // The number is taken last, so that the counter's row is locked shortly.
    epic.iid = await nextInternalId(tx, epicKind.table, group.id);
    await tx.manager.save(epic);
    const labels = await putLabels(tx, labelled(epic.id), wished, by);
    emitOpened(tx, viewer, epic, this.noteLimit.countLabels(tx, viewer, labels));
    tellOfText(tx, viewer, { ...aboutEpic(epic), text: texts, at });
    return epic;
  }

  /** Errors: NotFound; Forbidden; Invalid by field; of a parent Forbidden and Conflict. */
  async update(viewer: SignedInViewer, group: EpicGroup, iid: number, wish: EpicWish): Promise<string> {
    await this.directory.fresh(viewer);
    await this.work.run((tx) => this.change(tx, viewer, group, { by: 'iid', named: iid }, wish));
    return this.queries.answer(viewer, group, iid);
  }

  /** The same inside a transaction of others. */
  async change(
    tx: Tx,
    viewer: SignedInViewer,
    group: EpicGroup,
    named: NamedEpic,
    wish: EpicWish | WishByEpic,
  ): Promise<void> {
    // Confidentiality hangs together with that of parent and children.
    if (!('now' in wish) && (wish.parentId !== undefined || wish.fields.confidential !== undefined)) {
      this.noteLimit.count(tx, viewer);
      await epicTree.hold(tx, viewer, group.id, endsOf({ parent: group, ...named }, wish.parentId));
    }
    const { epic, at } = await lockEpic(tx, viewer, group, named);
    if (!epicPolicy.mayWrite(viewer, group)) throw new Forbidden();
    await this.apply(tx, group, epic, { viewer, at, wish: 'now' in wish ? wish.now(epic) : wish });
  }

  private async apply(
    tx: Tx,
    group: EpicGroup,
    epic: Epic,
    { viewer, at, wish }: { readonly viewer: SignedInViewer; readonly at: Date; readonly wish: EpicWish },
  ): Promise<void> {
    const by = { actorId: viewer.userId, at };
    const before = Object.assign(new Epic(), epic);
    const changed = new Set(epic.change(this.allowed(viewer, group, wish.fields), by));
    if (changed.has('confidential')) await this.refuseOpenIssues(tx, epic);
    const labels = await putLabels(tx, labelled(epic.id), await wishedLabels(tx, group, wish.labels), by);
    this.noteLimit.countLabels(tx, viewer, labels);
    if (labels.added.length + labels.removed.length > 0) epic.updatedAt = at;
    const given = givenTime(viewer, group, wish);
    epic.updatedAt = given ?? epic.updatedAt;
    await tx.manager.save(epic);
    if (await this.setParent(tx, group, epic, { viewer, at, given, wish })) changed.add('parentId');
    if (changed.has('confidential')) await this.parents.refuseOpen(tx, epic);
    await this.tell(tx, viewer, epic, { before, changed, labels, at });
  }

  /** `check` sees when the epic changed last and may refuse. Errors: NotFound; Forbidden. */
  async remove(viewer: SignedInViewer, group: EpicGroup, iid: number, check: (updatedAt: Date) => void): Promise<void> {
    await this.directory.fresh(viewer);
    await this.work.run(async (tx) => {
      // Its children lose their parent.
      await epicTree.hold(tx, viewer, group.id, { named: [{ groupId: group.id, iid }], withChildren: true });
      const { epic } = await lockEpic(tx, viewer, group, { by: 'iid', named: iid });
      if (!epicPolicy.mayDelete(viewer, group)) throw new Forbidden();
      check(epic.updatedAt);
      const { id, state } = epic;
      await removeNotesOf(tx, epicKind, [id]);
      await tx.manager.delete(Epic, id);
      const gone = { id, iid, project_id: null, group_id: group.id, state };
      tx.emit(epicEvents.deletedOf(gone, viewer.userId, viewer.directory));
    });
  }

  /** Answers whether the parent changed. */
  private async setParent(
    tx: Tx,
    group: EpicGroup,
    { id }: Epic,
    o: {
      readonly viewer: SignedInViewer;
      readonly at: Date;
      readonly given: Date | undefined;
      readonly wish: EpicWish;
    },
  ): Promise<boolean> {
    const { parentId } = o.wish;
    if (parentId === undefined || !(await this.parents.set(tx, group, id, parentId, o))) return false;
    if (o.given) await tx.manager.update(Epic, id, { updatedAt: o.given });
    return true;
  }

  /** System notes, the row of a change of the state, and events. */
  private async tell(tx: Tx, viewer: SignedInViewer, epic: Epic, change: EpicChange): Promise<void> {
    const { before, changed, at } = change;
    const by = { actorId: viewer.userId, at };
    const bodies = notesOf(epic, change);
    if (bodies.length > 0) this.noteLimit.count(tx, viewer);
    await writeSystemNotes(tx, epicKind, { noteableId: epic.id, projectId: null, actorId: viewer.userId, bodies, at });
    if (changed.has('state')) {
      const state = epic.state === 'closed' ? 'closed' : 'reopened';
      await tellState(tx, { type: epicKind.type, id: epic.id, projectId: null }, state, by);
    }
    const names = mentionsIn(`${before.title}\n\n${before.description ?? ''}`).all;
    const isText = changed.has('title') || changed.has('description');
    const mentionedBefore = isText ? [...(await this.directory.usersByUsername(names, tx)).values()] : [];
    emitChange(tx, viewer, epic, { ...change, mentionedBefore: mentionedBefore.map((user) => user.id) });
    if (isText) tellOfText(tx, viewer, { ...aboutEpic(epic), text: `${epic.title}\n\n${epic.description ?? ''}`, at });
  }

  /** Whoever sees an issue of a confidential epic must be able to see both. */
  private async refuseOpenIssues(tx: Tx, { id, confidential }: Epic): Promise<void> {
    if (!confidential || (await tx.prepared(openIssue, [id])).length === 0) return;
    throw new Invalid({ confidential: [CONFIDENTIAL_ISSUES_ONLY] });
  }

  /** A colour counts only where the feature is on. Source: reference packages-and-admin 10.1. */
  private allowed(viewer: SignedInViewer, group: EpicGroup, { color, ...fields }: EpicInput): EpicInput {
    const takes = color !== undefined && this.instance.isOn('epic_highlight_color', { viewer, groupId: group.id });
    return takes ? { ...fields, color } : fields;
  }
}

function givenTime(viewer: SignedInViewer, group: EpicGroup, { at }: EpicWish): Date | undefined {
  return epicPolicy.mayBackdate(viewer, group) ? at : undefined;
}

function aboutEpic({ id }: Epic): Pick<WrittenText, 'about' | 'noteId'> {
  return { about: { type: epicKind.type, id }, noteId: null };
}

function labelled(id: number): LabelledThing {
  return { kind: epicKind, id, projectId: null };
}
