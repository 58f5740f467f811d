import type { Asker, Call, Gateway } from '../playing/world';
import type { Thing } from '../rules/forest';
import { keyOfThing } from '../rules/forest';
import { isMovable, moved } from '../rules/forest-steps';
import { changing } from './changes';
import type { Changes } from './changes';

const ROOT_USER = 1;

/**
 * Groups and projects go elsewhere: below another group, of this tree or another, or to the top.
 * Source: reference identity-and-import 2.6, 10.2.
 */
export class Moves {
  constructor(private readonly changes: Changes) {}

  /** Shape: `to` null for the top, which is for groups and for root to decide. */
  async move(gateway: Gateway, about: Thing, to: number | null, by: Asker): Promise<void> {
    const { state } = this.changes.world;
    const isPossible = isMovable(state, about, to);
    const { id } = about.thing;
    if (to === null) await this.keepOwner(gateway, id);
    const request =
      about.kind === 'project'
        ? { method: 'PUT', path: `/projects/${id}/transfer`, json: { namespace: to } }
        : { method: 'POST', path: `/groups/${id}/transfer`, json: to === null ? {} : { group_id: to } };
    // What is there already was moved by the attempt without an answer.
    const isMoved = ({ status }: Call, isRepeated: boolean): boolean =>
      status === 200 || status === 201 || (isRepeated && status === 400 && isPossible);
    await this.changes.ofForest(gateway, {
      kind: `${about.kind}s moved`,
      about: `${about.kind} ${id} moves ${to === null ? 'to the top' : `into group ${to}`}`,
      asker: by,
      question: changing(keyOfThing(about), 50, to === null ? {} : { target: to }),
      ...request,
      again: request,
      becomes: (answer, isRepeated) => (isMoved(answer, isRepeated) ? moved(state, about, to) : null),
    });
  }

  /** Root owns all that is at the top, so that of the people of the model nobody is ever a last owner. */
  private async keepOwner(gateway: Gateway, id: number): Promise<void> {
    const json = { user_id: ROOT_USER, access_level: 50 };
    const call = await this.changes.insist(gateway, { method: 'POST', path: `/groups/${id}/members`, json });
    if (call.status !== 201 && call.status !== 409) throw new Error(`root cannot own group ${id}: ${call.status}`);
  }
}
