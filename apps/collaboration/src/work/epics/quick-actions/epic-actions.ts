import { Injectable } from '@nestjs/common';
import type { GroupScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { COMMON_ACTIONS, CONFIDENTIAL_ACTIONS } from '../../issues/quick-actions/common-actions';
import type { CommonNow } from '../../issues/quick-actions/common-actions';
import { LABEL_ACTIONS, labelsMeant, labelWishOf } from '../../issues/quick-actions/label-actions';
import type { Labelling } from '../../issues/quick-actions/label-actions';
import type { Asking, CarriesOut, Outcome } from '../../../talk/mentions/quick-actions/action-set';
import type { Command } from '../../../talk/mentions/quick-actions/commands-in';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import type { PlacedNoteable } from '../../../base/noteables/planning.policy';
import { endsOf, epicTree } from '../children/epic-tree';
import { epicKind } from '../epic.kind';
import { EpicsService } from '../epics.service';
import type { EpicWish } from '../epics.service';

const OWN_ACTIONS: Readonly<Record<string, (now: CommonNow, argument: string) => Outcome>> = {
  ...COMMON_ACTIONS,
  ...CONFIDENTIAL_ACTIONS,
};

/**
 * Commands that change an epic: all of one text are one change, as one request would be, but for its confidentiality, which
 * the tree and the issues of the epic may refuse. Source: reference work-tracking 2.6, 5.5.
 */
@Injectable()
export class EpicActions {
  constructor(
    actions: QuickActionsService,
    private readonly epics: EpicsService,
  ) {
    const fits: Parameters<QuickActionsService['declare']>[0]['fits'] = (kind) => kind === epicKind;
    actions.declare({
      names: [...Object.keys(COMMON_ACTIONS), ...Object.keys(LABEL_ACTIONS)],
      isFirst: true,
      fits,
      plan: (asking, commands) => this.plan(asking, commands),
    });
    actions.declare({
      names: Object.keys(CONFIDENTIAL_ACTIONS),
      isFirst: true,
      fits,
      plan: (asking, commands) => this.planHidden(asking, commands),
    });
  }

  private plan({ viewer }: Asking, commands: readonly Command[]): CarriesOut {
    return (tx, on) => this.carryOut(tx, viewer, on, commands);
  }

  /** What a parent and children are must not change meanwhile. */
  private planHidden(asking: Asking, commands: readonly Command[]): CarriesOut {
    const { viewer, parent, epicId } = asking;
    const above = (tx: Tx, on: PlacedNoteable | null): Promise<void> =>
      epicTree.hold(tx, viewer, parent.id, endsOf(on, epicId));
    return Object.assign(this.plan(asking, commands), { holds: { above } });
  }

  private async carryOut(
    tx: Tx,
    viewer: SignedInViewer,
    on: PlacedNoteable,
    commands: readonly Command[],
  ): Promise<readonly Outcome[]> {
    const group = on.parent as GroupScope;
    const known = await labelsMeant(tx, group, commands);
    let outcomes: readonly Outcome[] = [];
    await this.epics.change(tx, viewer, group, on, {
      now: (epic): EpicWish => {
        const labelling: Labelling = { add: new Set(), remove: new Set() };
        const own: CommonNow = { thing: epic, word: epicKind.word, wish: {} };
        outcomes = commands.map(({ name, argument }) => {
          const act = OWN_ACTIONS[name];
          return act ? act(own, argument) : LABEL_ACTIONS[name]!(labelling, known, argument);
        });
        const { title, confidential, stateEvent: state_event } = own.wish;
        return { fields: { title, confidential, state_event }, labels: labelWishOf(labelling), at: undefined };
      },
    });
    return outcomes;
  }
}
