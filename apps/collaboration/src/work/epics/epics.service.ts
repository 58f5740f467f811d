import { Injectable } from '@nestjs/common';
import { epicEvents } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { InstanceSettings } from '@rookery/instance';
import type { SignedInViewer } from '@rookery/kernel';
import { Forbidden, Invalid } from '@rookery/kernel';
import { nextInternalId, prepareStatement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { CONFIDENTIAL_ISSUES_ONLY } from '../issues/confidential-epics';
import { setLabels, resolveOrCreateLabels } from '../../planning/labels/labelling/labelling';
import type { LabelledNoteable, RequestedLabels } from '../../planning/labels/labelling/labelling';
import { findMentions } from '../../talk/mentions/mentions';
import { publishTextWritten } from '../../talk/mentions/text-events';
import type { WrittenText } from '../../talk/mentions/text-events';
import { UserMentions } from '../../talk/mentions/user-mentions';
import { NoteLimit } from '../../talk/notes/note-limit';
import { removeNotesOfNoteables } from '../../talk/notes/note-removal';
import { writeSystemNotes } from '../../talk/notes/system-notes';
import { recordStateEvent } from '../../base/resource-events/states-and-weights';
import { EpicParentsService } from './children/epic-parents.service';
import { listEpicsToLock, epicTree } from './children/epic-tree';
import { emitEpicChange, emitEpicCreated, renderEpicSystemNotes } from './epic-events';
import type { EpicChange } from './epic-events';
import { lockEpic } from './epic-lock';
import type { EpicIdentifier } from './epic-lock';
import { Epic } from './epic.entity';
import type { EpicInput } from './epic.entity';
import { epicKind } from './epic.kind';
import { epicPolicy } from './epic.policy';
import { EpicsQueries } from './epics.queries';
import type { EpicGroup } from './epics.queries';

/** A change of an epic. */
export interface EpicUpdate {
  readonly fields: EpicInput;
  readonly labels: RequestedLabels | undefined;
  /** Id of an epic, null for none; undefined keeps the parent. */
  readonly parentId?: number | null | undefined;
  /** Time of the creation or update that the caller sets; undefined for the current time. */
  readonly at: Date | undefined;
}

/** A change that depends on the current epic. The caller locks the tree first if the change may set confidentiality. */
export interface DeferredEpicUpdate {
  resolve(epic: Epic): EpicUpdate;
}

export type NewEpic = EpicUpdate & { readonly fields: { readonly title: string } };

const now = prepareStatement('epics_now', 'select now() as at');
/** $1 epic. */
const nonConfidentialIssue = prepareStatement(
  'epics_open_issue',
  `select 1 from epic_issues l join issues s on s.id = l.issue_id
   where l.epic_id = $1::bigint and not s.confidential limit 1`,
);

/**
 * Creates, changes and deletes epics. Methods return the epic as JSON text. Times are the database's. Source: reference
 * work-tracking 5.5.
 */
@Injectable()
export class EpicsService {
  constructor(
    private readonly work: Work,
    private readonly queries: EpicsQueries,
    private readonly instance: InstanceSettings,
    private readonly directory: Directory,
    private readonly noteLimit: NoteLimit,
    private readonly parents: EpicParentsService,
    private readonly mentions: UserMentions,
  ) {}

  /** Creates an epic. Errors: Invalid by field; Forbidden and Conflict for the parent. */
  async create(viewer: SignedInViewer, group: EpicGroup, input: NewEpic): Promise<string> {
    await this.directory.requireFresh(viewer);
    const number = await this.work.run((tx) => this.openWithParent(tx, viewer, group, input));
    return this.queries.answer(viewer, group, number);
  }

  /** Creates an epic with its parent inside a given transaction; returns its number. */
  async openWithParent(tx: Tx, viewer: SignedInViewer, group: EpicGroup, input: NewEpic): Promise<number> {
    const { parentId = null } = input;
    if (parentId !== null) {
      this.noteLimit.countNotes(tx, viewer);
      await epicTree.lock(tx, viewer, group.id, { ids: [parentId] });
    }
    const { id, iid, createdAt: at } = await this.openEpic(tx, viewer, group, input);
    if (parentId !== null) await this.parents.setParent(tx, group, id, parentId, { viewer, at });
    return iid;
  }

  /** Creates an epic without a parent inside a given transaction. Errors: Invalid by field. */
  async openEpic(tx: Tx, viewer: SignedInViewer, group: EpicGroup, input: NewEpic): Promise<Epic> {
    const fields = { ...this.omitUnsupportedColour(viewer, group, input.fields), title: input.fields.title };
    const texts = `${fields.title}\n\n${fields.description ?? ''}`;
    if (findMentions(texts).all.length > 0) this.noteLimit.countNotes(tx, viewer);
    const [clock] = await tx.prepared<{ at: Date }>(now, []);
    const at = permittedBackdatedTime(viewer, group, input) ?? clock!.at;
    const by = { actorId: viewer.userId, at };
    const epic = Epic.create(fields, { ...by, groupId: group.id });
    const newLabels = await resolveOrCreateLabels(tx, group, input.labels);
    // Takes the number last, so that the row of the counter is locked only briefly.
    epic.iid = await nextInternalId(tx, epicKind.table, group.id);
    await tx.manager.save(epic);
    const labels = await setLabels(tx, toLabelledEpic(epic.id), newLabels, by);
    emitEpicCreated(tx, viewer, epic, this.noteLimit.countLabels(tx, viewer, labels));
    publishTextWritten(tx, viewer, { ...toTextSourceOfEpic(epic), text: texts, at });
    return epic;
  }

  /** Updates an epic. Errors: NotFound; Forbidden; Invalid by field; Forbidden and Conflict for the parent. */
  async update(viewer: SignedInViewer, group: EpicGroup, iid: number, update: EpicUpdate): Promise<string> {
    await this.directory.requireFresh(viewer);
    await this.work.run((tx) => this.change(tx, viewer, group, { by: 'iid', named: iid }, update));
    return this.queries.answer(viewer, group, iid);
  }

  /** Updates an epic inside a given transaction. */
  async change(
    tx: Tx,
    viewer: SignedInViewer,
    group: EpicGroup,
    named: EpicIdentifier,
    update: EpicUpdate | DeferredEpicUpdate,
  ): Promise<void> {
    // Confidentiality depends on that of parent and children, so the tree is locked first.
    if (!('resolve' in update) && (update.parentId !== undefined || update.fields.confidential !== undefined)) {
      this.noteLimit.countNotes(tx, viewer);
      await epicTree.lock(tx, viewer, group.id, listEpicsToLock({ parent: group, ...named }, update.parentId));
    }
    const { epic, at } = await lockEpic(tx, viewer, group, named);
    if (!epicPolicy.mayWrite(viewer, group)) throw new Forbidden();
    await this.applyUpdate(tx, group, epic, {
      viewer,
      at,
      update: 'resolve' in update ? update.resolve(epic) : update,
    });
  }

  private async applyUpdate(
    tx: Tx,
    group: EpicGroup,
    epic: Epic,
    { viewer, at, update }: { readonly viewer: SignedInViewer; readonly at: Date; readonly update: EpicUpdate },
  ): Promise<void> {
    const by = { actorId: viewer.userId, at };
    const before = Object.assign(new Epic(), epic);
    const changed = new Set(epic.change(this.omitUnsupportedColour(viewer, group, update.fields), by));
    if (changed.has('confidential')) await this.assertIssuesConfidential(tx, epic);
    const labels = await setLabels(
      tx,
      toLabelledEpic(epic.id),
      await resolveOrCreateLabels(tx, group, update.labels),
      by,
    );
    this.noteLimit.countLabels(tx, viewer, labels);
    if (labels.added.length + labels.removed.length > 0) epic.updatedAt = at;
    const backdatedAt = permittedBackdatedTime(viewer, group, update);
    epic.updatedAt = backdatedAt ?? epic.updatedAt;
    await tx.manager.save(epic);
    if (await this.setParent(tx, group, epic, { viewer, at, backdatedAt, update })) changed.add('parentId');
    if (changed.has('confidential')) await this.parents.assertConfidentialityFits(tx, epic);
    await this.publishChange(tx, viewer, epic, { before, changed, labels, at });
  }

  /** Deletes an epic. `check` receives its last change and may refuse. Errors: NotFound; Forbidden. */
  async remove(viewer: SignedInViewer, group: EpicGroup, iid: number, check: (updatedAt: Date) => void): Promise<void> {
    await this.directory.requireFresh(viewer);
    await this.work.run(async (tx) => {
      // Deleting an epic removes the parent of its children, so they are locked too.
      await epicTree.lock(tx, viewer, group.id, { named: [{ groupId: group.id, iid }], withChildren: true });
      const { epic } = await lockEpic(tx, viewer, group, { by: 'iid', named: iid });
      if (!epicPolicy.mayDelete(viewer, group)) throw new Forbidden();
      check(epic.updatedAt);
      const { id, state } = epic;
      await removeNotesOfNoteables(tx, epicKind, [id]);
      await tx.manager.delete(Epic, id);
      const deleted = { id, iid, project_id: null, group_id: group.id, state };
      tx.emit(epicEvents.deletedOf(deleted, viewer.userId, viewer.directory));
    });
  }

  /** Sets the parent; returns whether it changed. */
  private async setParent(
    tx: Tx,
    group: EpicGroup,
    { id }: Epic,
    o: {
      readonly viewer: SignedInViewer;
      readonly at: Date;
      readonly backdatedAt: Date | undefined;
      readonly update: EpicUpdate;
    },
  ): Promise<boolean> {
    const { parentId } = o.update;
    if (parentId === undefined || !(await this.parents.setParent(tx, group, id, parentId, o))) return false;
    if (o.backdatedAt) await tx.manager.update(Epic, id, { updatedAt: o.backdatedAt });
    return true;
  }

  /** Writes system notes and the resource event of a new state, and emits events. */
  private async publishChange(tx: Tx, viewer: SignedInViewer, epic: Epic, change: EpicChange): Promise<void> {
    const { before, changed, at } = change;
    const by = { actorId: viewer.userId, at };
    const bodies = renderEpicSystemNotes(epic, change);
    if (bodies.length > 0) this.noteLimit.countNotes(tx, viewer);
    await writeSystemNotes(tx, epicKind, { noteableId: epic.id, projectId: null, actorId: viewer.userId, bodies, at });
    if (changed.has('state')) {
      const state = epic.state === 'closed' ? 'closed' : 'reopened';
      await recordStateEvent(tx, { type: epicKind.type, id: epic.id, projectId: null }, state, by);
    }
    const isText = changed.has('title') || changed.has('description');
    const mentionedBefore = isText ? await this.mentions.listMentionedIds(tx, before) : [];
    emitEpicChange(tx, viewer, epic, { ...change, mentionedBefore });
    if (isText)
      publishTextWritten(tx, viewer, {
        ...toTextSourceOfEpic(epic),
        text: `${epic.title}\n\n${epic.description ?? ''}`,
        at,
      });
  }

  /**
   * Checks that a confidential epic has confidential issues only: a viewer of an issue must see its epic too. Errors:
   * Invalid.
   */
  private async assertIssuesConfidential(tx: Tx, { id, confidential }: Epic): Promise<void> {
    if (!confidential || (await tx.prepared(nonConfidentialIssue, [id])).length === 0) return;
    throw new Invalid({ confidential: [CONFIDENTIAL_ISSUES_ONLY] });
  }

  /** Whether epics of the group take a colour. Source: reference packages-and-admin 10.1. */
  takesColour(viewer: SignedInViewer, group: EpicGroup): boolean {
    return this.instance.isOn('epic_highlight_color', { viewer, groupId: group.id });
  }

  private omitUnsupportedColour(viewer: SignedInViewer, group: EpicGroup, { color, ...fields }: EpicInput): EpicInput {
    return color !== undefined && this.takesColour(viewer, group) ? { ...fields, color } : fields;
  }
}

function permittedBackdatedTime(viewer: SignedInViewer, group: EpicGroup, { at }: EpicUpdate): Date | undefined {
  return epicPolicy.mayBackdate(viewer, group) ? at : undefined;
}

function toTextSourceOfEpic({ id }: Epic): Pick<WrittenText, 'about' | 'noteId'> {
  return { about: { type: epicKind.type, id }, noteId: null };
}

function toLabelledEpic(id: number): LabelledNoteable {
  return { kind: epicKind, id, projectId: null };
}
