import type { Asker, Call, Gateway } from '../playing/world';
import type { Source } from '../rules/forest';
import { keyOfSource } from '../rules/forest';
import { isMovable, moved } from '../rules/forest-steps';
import { changeQuestion } from './changes';
import type { Changes } from './changes';

const ROOT_USER = 1;

/**
 * Moves groups and projects below another group, in this tree or another, or to the top.
 * Source: reference identity-and-import 2.6, 10.2.
 */
export class Moves {
  constructor(private readonly changes: Changes) {}

  /** Moves a source. `to` is null for a move to the top, which only root makes, and only of groups. */
  async move(gateway: Gateway, about: Source, to: number | null, by: Asker): Promise<void> {
    const { state } = this.changes.world;
    const isPossible = isMovable(state, about, to);
    const { id } = about.entity;
    if (to === null) await this.keepOwner(gateway, id);
    const request =
      about.kind === 'project'
        ? { method: 'PUT', path: `/projects/${id}/transfer`, json: { namespace: to } }
        : { method: 'POST', path: `/groups/${id}/transfer`, json: to === null ? {} : { group_id: to } };
    // 400 on a retry: the attempt without an answer moved it already.
    const isMoved = ({ status }: Call, isRepeated: boolean): boolean =>
      status === 200 || status === 201 || (isRepeated && status === 400 && isPossible);
    await this.changes.makeInForest(gateway, {
      kind: `${about.kind}s moved`,
      about: `${about.kind} ${id} moves ${to === null ? 'to the top' : `into group ${to}`}`,
      asker: by,
      question: changeQuestion(keyOfSource(about), 50, to === null ? {} : { target: to }),
      ...request,
      retry: request,
      nextState: (answer, isRepeated) => (isMoved(answer, isRepeated) ? moved(state, about, to) : null),
    });
  }

  /** Makes root an owner of each top-level group, so that no person of the model is ever the last owner. */
  private async keepOwner(gateway: Gateway, id: number): Promise<void> {
    const json = { user_id: ROOT_USER, access_level: 50 };
    const call = await this.changes.retryUntilAnswered(gateway, {
      method: 'POST',
      path: `/groups/${id}/members`,
      json,
    });
    if (call.status !== 201 && call.status !== 409) throw new Error(`root cannot own group ${id}: ${call.status}`);
  }
}
