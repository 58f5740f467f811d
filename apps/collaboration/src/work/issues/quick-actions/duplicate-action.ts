import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { oneByOne } from '../../../talk/mentions/quick-actions/action-set';
import type { Asking, CarriesOut, Outcome } from '../../../talk/mentions/quick-actions/action-set';
import { argumentsOf } from '../../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../../talk/mentions/quick-actions/commands-in';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import type { PlacedNoteable } from '../../../base/noteables/planning.policy';
import { issueKind } from '../issue.kind';
import { seenIssues } from '../seen-issues';
import { IssueDuplicatesService } from './issue-duplicates.service';
import type { PlacedIssue } from './issue-duplicates.service';

type Place = Extract<PlacedNoteable['parent'], { readonly kind: 'project' }>;
type Canonical = PlacedIssue | { readonly why: string };

/** The command that closes an issue for another one. Source: reference work-tracking 2.6. */
@Injectable()
export class DuplicateAction {
  constructor(
    actions: QuickActionsService,
    private readonly duplicates: IssueDuplicatesService,
    private readonly directory: Directory,
  ) {
    actions.declare({
      names: ['duplicate'],
      isForKept: true,
      fits: (kind) => kind === issueKind,
      plan: (asking, commands) => this.plan(asking, commands),
    });
  }

  private async plan({ viewer, parent }: Asking, commands: readonly Command[]): Promise<CarriesOut> {
    const here = parent as Place;
    const named: Canonical[] = [];
    for (const { argument } of commands) named.push(await this.canonical(viewer, here, argument));
    const found = named.filter((one) => 'project' in one);
    const carryOut: CarriesOut = (tx, on) =>
      oneByOne(tx, commands, async (_, index): Promise<Outcome> => {
        const canonical = named[index]!;
        if ('why' in canonical) return canonical;
        const id = await this.duplicates.mark(tx, viewer, { project: here, iid: on.named }, canonical);
        const { project, iid } = canonical;
        const reference = `${project.id === here.id ? '' : project.fullPath}#${iid}`;
        return { said: `Closed this issue as a duplicate of ${reference}.`, changes: { canonical_issue_id: id } };
      });
    const holds: CarriesOut['holds'] = {
      things: (tx, on) => seenIssues(tx, viewer, [...(on ? [{ project: here, iid: on.named }] : []), ...found]),
    };
    return Object.assign(carryOut, { holds });
  }

  private async canonical(viewer: SignedInViewer, here: Place, argument: string): Promise<Canonical> {
    const [named] = argumentsOf.references(argument);
    if (!named) return { why: 'it names no issue' };
    const project = named.project === null ? here : await this.directory.project(named.project, viewer);
    return project ? { project, iid: named.iid } : NOT_FOUND;
  }
}

const NOT_FOUND = { why: 'it was not found' };
