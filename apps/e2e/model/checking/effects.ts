import { addressOf } from '../changing/people-changes';
import type { Effect } from '../playing/effects-watch';
import type { Call, World } from '../playing/world';
import { LEVELS } from '../playing/notes';
import type { Decision } from './checker';

/**
 * Maximum age of the directory state that an e-mail was checked against when it is sent: the copy may be 5 s old, and the
 * sending process may have been stopped for half as long after the check. Units: ms. Source: ADR 0171.
 */
const MAIL_AGE_MS = 10_000;

/**
 * Converts effects to decisions: the recipient must have been able to read the note at some moment between its creation
 * and the delivery. The call of a decision is the one that wrote the note. Recipients outside the model are omitted.
 */
export function effectDecisions(
  world: World,
  effects: readonly Effect[],
): { readonly call: Call; readonly decision: Decision }[] {
  const byAddress = new Map(world.people.map((person) => [addressOf(person.name), person]));
  return effects.flatMap(({ kind, word, to, at }) => {
    const note = world.notes.get(word);
    const person = typeof to === 'number' ? world.person(to) : byAddress.get(to);
    if (!note || !person) return [];
    const { call, project, internal } = note;
    const source = { kind: 'project', id: project } as const;
    const needs = internal ? LEVELS.internal : 0;
    const decision: Decision = {
      start: kind === 'e-mail' ? Math.max(call.start, at - MAIL_AGE_MS) : call.start,
      end: at,
      gateway: call.plan.gateway.name,
      question: { service: 'collaboration', source, needs, writes: false, effect: kind },
      asker: { history: person.history, token: null },
      forest: world.forest,
      observed: 'allow',
    };
    return [{ call, decision }];
  });
}
