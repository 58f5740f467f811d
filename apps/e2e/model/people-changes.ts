import type { Change, Changes } from './changes';
import type { Membership, PersonState, Question, SourceKey, Token } from './reference-model';
import { isWithin, withEntry } from './reference-model';
import type { SeededRandom } from './seeded-random';
import type { Asker, Gateway, Person, Tree } from './world';

const LEVELS = [10, 15, 20, 30, 40, 50];
const DAY_MS = 86_400_000;
const ALONE: Question = { service: 'identity', source: null, needs: 0, writes: true };
const dayFromNow = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

/** A group or project whose members are changed. */
export interface Source {
  readonly tree: Tree;
  readonly kind: 'group' | 'project';
  readonly id: number;
}

/** What happens to people: they come, join, rise, leave, are blocked; their tokens are made, replaced and revoked. */
export class PeopleChanges {
  constructor(private readonly changes: Changes) {}

  async create(random: SeededRandom, gateway: Gateway): Promise<Person | null> {
    const { world, caller } = this.changes;
    const username = world.name('person');
    const external = random.percent(15);
    const json = { username, name: username, email: `${username}@mail.example`, external, force_random_password: true };
    const call = await caller.ask({
      asker: 'root',
      gateway,
      tree: null,
      method: 'POST',
      path: '/users',
      json,
      question: ALONE,
    });
    if (call.status !== 201) return null;
    const person = world.addPerson(call.body.id, username, external);
    await this.createToken(random, gateway, person);
    return person;
  }

  async createToken(random: SeededRandom, gateway: Gateway, person: Person): Promise<void> {
    const scope = random.percent(18) ? 'read_api' : 'api';
    const isOver = random.percent(8);
    const key = `t${this.changes.world.name('')}`;
    const path = `/users/${person.id}/personal_access_tokens`;
    const json = { name: key, scopes: [scope], ...(isOver ? { expires_at: dayFromNow(0) } : {}) };
    const about = `${person.name} gets the ${isOver ? 'dead ' : ''}token ${key} (${scope})`;
    await this.changes.make({
      ...this.by('root', gateway, person),
      about,
      method: 'POST',
      path,
      json,
      again: null,
      becomes: (answer) => {
        if (answer.status !== 201) return null;
        person.secrets.set(key, { id: answer.body.id, secret: answer.body.token });
        return withToken(person.history.latest, key, { scope, family: key, alive: !isOver });
      },
    });
  }

  async endToken(random: SeededRandom, gateway: Gateway, person: Person, key: string): Promise<void> {
    const state = person.history.latest;
    const token = state.tokens.get(key)!;
    const byRoot = `/personal_access_tokens/${person.secrets.get(key)!.id}`;
    const isSelf = !state.blocked && random.percent(50);
    const question = isSelf ? { ...ALONE, writes: false } : ALONE;
    await this.changes.make({
      ...this.by(isSelf ? { person, token: key } : 'root', gateway, person),
      about: `${person.name} loses the token ${key}`,
      method: 'DELETE',
      path: isSelf ? '/personal_access_tokens/self' : byRoot,
      question,
      again: { method: 'DELETE', path: byRoot },
      becomes: ({ status }) => (status === 204 ? withToken(state, key, { ...token, alive: false }) : null),
    });
  }

  async rotateToken(random: SeededRandom, gateway: Gateway, person: Person, key: string): Promise<void> {
    const state = person.history.latest;
    const token = state.tokens.get(key)!;
    const byRoot = `/personal_access_tokens/${person.secrets.get(key)!.id}/rotate`;
    const isSelf = !state.blocked && random.percent(50);
    const next = `t${this.changes.world.name('')}`;
    await this.changes.make({
      ...this.by(isSelf ? { person, token: key } : 'root', gateway, person),
      about: `${person.name} has the token ${key} replaced by ${next}`,
      method: 'POST',
      path: isSelf ? '/personal_access_tokens/self/rotate' : byRoot,
      again: { method: 'POST', path: byRoot },
      becomes: ({ status, body }) => {
        // It was replaced by the attempt without an answer; asking again has revoked all that came of it.
        if (status === 400) return withoutFamily(state, token.family);
        if (status !== 200) return null;
        person.secrets.set(next, { id: body.id, secret: body.token });
        return withToken(withToken(state, key, { ...token, alive: false }), next, token);
      },
    });
  }

  async block(gateway: Gateway, person: Person): Promise<void> {
    const path = `/users/${person.id}/block`;
    await this.changes.make({
      ...this.by('root', gateway, person),
      about: `${person.name} is blocked`,
      method: 'POST',
      path,
      again: { method: 'POST', path },
      becomes: ({ status }) => (status === 201 ? { ...person.history.latest, blocked: true } : null),
    });
  }

  async add(random: SeededRandom, gateway: Gateway, person: Person, source: Source, by: Asker): Promise<void> {
    const state = person.history.latest;
    const key = keyOf(source);
    const old = state.memberships.get(key);
    const given = this.given(random);
    const path = `/${source.kind}s/${source.id}/members`;
    const json = { user_id: person.id, ...given.json };
    await this.changes.make({
      ...this.inSource(by, gateway, person, source, { action: 'add', old, grant: given.membership.level }),
      about: `${person.name} joins ${key} as ${said(given.membership)}`,
      method: 'POST',
      path,
      json,
      again: { method: 'POST', path, json },
      becomes: ({ status }, isRepeated) => {
        const isMade = status === 201 || (isRepeated && status === 409 && (old === undefined || old.over));
        return isMade ? withMember(state, key, given.membership) : null;
      },
    });
  }

  async update(random: SeededRandom, gateway: Gateway, person: Person, source: Source, by: Asker): Promise<void> {
    const state = person.history.latest;
    const key = keyOf(source);
    const given = this.given(random);
    const path = `/${source.kind}s/${source.id}/members/${person.id}`;
    await this.changes.make({
      ...this.inSource(by, gateway, person, source, {
        action: 'update',
        old: state.memberships.get(key),
        grant: given.membership.level,
      }),
      about: `${person.name} becomes ${said(given.membership)} in ${key}`,
      method: 'PUT',
      path,
      json: given.json,
      again: { method: 'PUT', path, json: given.json },
      becomes: ({ status }, isRepeated) => {
        if (status === 200) return withMember(state, key, given.membership);
        // Ended by the attempt without an answer.
        return isRepeated && status === 404 && given.membership.over ? withMember(state, key, undefined) : null;
      },
    });
  }

  async remove(random: SeededRandom, gateway: Gateway, person: Person, source: Source, by: Asker): Promise<void> {
    const state = person.history.latest;
    const key = keyOf(source);
    const keepsBelow = random.percent(50);
    const path = `/${source.kind}s/${source.id}/members/${person.id}?skip_subresources=${keepsBelow}`;
    const left = new Map(state.memberships);
    left.delete(key);
    if (source.kind === 'group' && !keepsBelow) {
      for (const other of left.keys()) if (isWithin(source.tree.history.latest, other, source.id)) left.delete(other);
    }
    await this.changes.make({
      ...this.inSource(by, gateway, person, source, { action: 'remove', old: state.memberships.get(key), grant: 0 }),
      about: `${person.name} leaves ${key}${keepsBelow ? '' : ' and all below'}`,
      method: 'DELETE',
      path,
      again: { method: 'DELETE', path },
      becomes: ({ status }, isRepeated) =>
        status === 204 || (isRepeated && status === 404) ? { ...state, memberships: left } : null,
    });
  }

  private given(random: SeededRandom): { readonly membership: Membership; readonly json: object } {
    const level = random.pick(LEVELS)!;
    const today = dayFromNow(0);
    const expires_at = random.weighted<string | null>([
      [64, null],
      [20, dayFromNow(30)],
      [11, today],
      [5, dayFromNow(-1)],
    ]);
    return { membership: { level, over: expires_at === today }, json: { access_level: level, expires_at } };
  }

  private by(asker: Asker, gateway: Gateway, person: Person) {
    return { history: person.history, asker, gateway, question: ALONE, tree: null };
  }

  private inSource(
    by: Asker,
    gateway: Gateway,
    person: Person,
    { tree, kind, id }: Source,
    member: Omit<NonNullable<Question['member']>, 'isSelf'>,
  ): Pick<Change<PersonState>, 'history' | 'asker' | 'gateway' | 'question' | 'tree'> {
    const isSelf = typeof by !== 'string' && by.person === person;
    const needs = kind === 'group' ? 50 : 40;
    const about = {
      service: 'identity',
      source: { kind, id },
      needs,
      writes: true,
      member: { ...member, isSelf },
    } as const;
    return { history: person.history, asker: by, gateway, question: about, tree };
  }
}

function keyOf({ kind, id }: Source): SourceKey {
  return `${kind} ${id}`;
}

function said({ level, over }: Membership): string {
  return `${level}${over ? ' until today' : ''}`;
}

function withMember(state: PersonState, key: SourceKey, member: Membership | undefined): PersonState {
  return { ...state, memberships: withEntry(state.memberships, key, member) };
}

function withToken(state: PersonState, key: string, token: Token): PersonState {
  return { ...state, tokens: withEntry(state.tokens, key, token) };
}

function withoutFamily(state: PersonState, family: string): PersonState {
  const tokens = [...state.tokens].map(
    ([key, token]) => [key, token.family === family ? { ...token, alive: false } : token] as const,
  );
  return { ...state, tokens: new Map(tokens) };
}
