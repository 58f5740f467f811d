import type { SeededRandom } from '../playing/seeded-random';
import type { Asker, Gateway, Person } from '../playing/world';
import type { Share, SourceKey } from '../rules/forest';
import { findSource, sourceOf } from '../rules/forest';
import { isShareable, shareOf, withoutShare, withShare } from '../rules/forest-steps';
import { levelOf } from '../rules/reference-model';
import { changeQuestion, dayFromNow } from './changes';
import type { Changes } from './changes';
import { randomGrant, describeGrant } from './grants';

/**
 * Invites groups to groups and projects, long-lived or until today, and ends these shares.
 * Source: reference identity-and-import 2.6.
 */
export class Shares {
  constructor(private readonly changes: Changes) {}

  async give(random: SeededRandom, gateway: Gateway, source: SourceKey, group: number, by: Asker): Promise<void> {
    const { state } = this.changes.world;
    const { level, isExpired, expires_at } = randomGrant(random);
    const isPossible = isShareable(state, source, group);
    const path = `/${source.replace(' ', 's/')}/share`;
    const json = { group_id: group, group_access: level, expires_at };
    const needs = neededAt(source);
    await this.changes.makeInForest(gateway, {
      kind: 'shares given',
      about: `${source} is shared with group ${group} as ${describeGrant({ level, isExpired })}`,
      asker: by,
      question: changeQuestion(source, needs, { share: { action: 'give', group, grant: level } }),
      method: 'POST',
      path,
      json,
      retry: { method: 'POST', path, json },
      nextState: ({ status }, isRepeated) => {
        const isPast = expires_at !== null && expires_at < dayFromNow(0);
        // The attempt without an answer created it.
        const isMade = status === 201 || (isRepeated && status === 409 && isPossible && !isPast);
        return isMade ? withShare(state, { source, group, level, isExpired }) : null;
      },
    });
  }

  /** Ends a share. `by` is locked, because the answer does not show whether they had the permission. */
  async end(gateway: Gateway, { source, group }: Share, by: Extract<Asker, object> | 'root'): Promise<void> {
    const { state } = this.changes.world;
    const path = `/${source.replace(' ', 's/')}/share/${group}`;
    const needs = neededAt(source);
    const mayEnd = by === 'root' || this.levelAt(by.person, source) >= needs;
    await this.changes.makeInForest(gateway, {
      kind: 'shares ended',
      about: `${source} is shared with group ${group} no more`,
      asker: by,
      question: changeQuestion(source, needs, { share: { action: 'end', group, grant: 0 } }),
      method: 'DELETE',
      path,
      retry: { method: 'DELETE', path },
      nextState: ({ status }, isRepeated) => {
        const isEnded = isRepeated ? status === 204 || status === 404 : status === 204 && mayEnd;
        return isEnded && shareOf(state, source, group) ? withoutShare(state, source, group) : null;
      },
    });
  }

  private levelAt(person: Person, source: SourceKey): number {
    const found = findSource(this.changes.world.state, sourceOf(source));
    return found ? levelOf(person.history.latest, this.changes.world.state, found) : 0;
  }
}

function neededAt(source: SourceKey): number {
  return sourceOf(source).kind === 'group' ? 50 : 40;
}
