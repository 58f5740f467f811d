import { Inject, Injectable } from '@nestjs/common';
import { groupLevelSql, isNobodysSql } from '@rookery/directory';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { mentionsIn } from './mentions';
import { mentionsSettings } from './mentions.config';
import type { MentionsSettings } from './mentions.config';

/** A text, where it stands, and who wrote it. */
export interface NamingText {
  /** Null for things of groups, where `@all` names nobody. */
  readonly projectId: number | null;
  readonly authorId: number;
  readonly text: string;
}

export interface NamedPerson {
  readonly userId: number;
  /** Named at the start of a line. */
  readonly isDirect: boolean;
}

/** The name that stands for everybody in the project. */
const ALL = 'all';
const live = (alias: string): string =>
  `(${alias}.expires_on is null or ${alias}.expires_on > (statement_timestamp() at time zone 'UTC')::date)`;

/** Boolean SQL: nobody tells the bot of a token anything, and its name is for those who see where it belongs. */
const isNoBot = (user: string): string =>
  `not exists (select 1 from directory_users b where b.id = ${user} and b.kind = 'project_bot')`;
/** Boolean SQL: may the row `author` know of the group? Shape: alias of directory_namespaces. */
const authorKnows = (group: string): string =>
  `(${group}.visibility = 'public' or author.admin or (${group}.visibility = 'internal' and not author.external)
     or ${groupLevelSql({ user: 'author.id', namespace: group })} >= 10)`;

const users = prepared(
  'audience_users',
  `select u.id, lower(u.username) as name from directory_users u
   where lower(u.username) = any($1::text[]) and u.kind <> 'project_bot' and not ${isNobodysSql('u')}`,
);

/**
 * $1 lower-cased paths, $2 who names them, $3 how many at most. Groups that the author may not know of stay unnamed, and
 * those that will not be named.
 */
const groupMembers = prepared(
  'audience_group_members',
  `select lower(n.full_path) as name, m.user_id
   from directory_namespaces n cross join directory_users author
   cross join lateral (
     select distinct m.user_id from directory_memberships m
     where m.source_type = 'namespace' and m.source_id = any(n.traversal_ids) and ${live('m')} and ${isNoBot('m.user_id')}
     order by m.user_id limit $3::integer) m
   where n.kind = 'group' and lower(n.full_path) = any($1::text[]) and author.id = $2::bigint
     and n.mentions_disabled is not true and ${authorKnows('n')}`,
);

/**
 * $1 project, $2 how many at most, $3 who names them: members by a group of which they may not know stay unnamed. People
 * who hold nothing any more are sorted out where it is decided who may read.
 */
const projectMembers = prepared(
  'audience_project_members',
  `with home as (
     select p.id, n.traversal_ids, n.owner_id from directory_projects p
     join directory_namespaces n on n.id = p.namespace_id where p.id = $1::bigint
   ), source as (
     select 'project' as source_type, home.id as source_id from home
     union all select 'namespace', unnest(home.traversal_ids) from home
   )
   select user_id from (
     select m.user_id from source join directory_memberships m using (source_type, source_id) where ${live('m')}
     union
     select m.user_id from source join directory_shares s using (source_type, source_id)
       join directory_namespaces invited on invited.id = s.group_id
       join directory_users author on author.id = $3::bigint and ${authorKnows('invited')}
       join directory_memberships m on m.source_type = 'namespace' and m.source_id = any(invited.traversal_ids)
       where ${live('s')} and ${live('m')}
     union
     select owner_id from home where owner_id is not null
   ) people where ${isNoBot('user_id')} order by user_id limit $2::integer`,
);

/**
 * Whom texts name: people, everybody in a group, or with `@all` everybody in the project, as far as the author may know of
 * them. Says nothing of who may read.
 * Source: reference work-tracking 6.3.
 */
@Injectable()
export class NamedPeople {
  constructor(@Inject(mentionsSettings.token) private readonly settings: MentionsSettings) {}

  /**
   * Shape: for each thing with its texts, in the same order, its people, each once. Two statements, unless groups are
   * named.
   */
  async in(tx: Tx, things: readonly (readonly NamingText[])[]): Promise<NamedPerson[][]> {
    const naming = things.map((texts) => texts.map((text) => namingOf(text)));
    const names = new Set(naming.flat().flatMap((text) => text.names));
    if (names.size === 0) return things.map(() => []);
    const rows = await tx.prepared<{ id: number; name: string }>(users, [[...names]]);
    const byName = new Map(rows.map((row) => [row.name, row.id]));
    const found: NamedPerson[][] = [];
    for (const texts of naming) found.push(await this.of(tx, texts, byName));
    return found;
  }

  private async of(tx: Tx, texts: readonly Naming[], byName: ReadonlyMap<string, number>): Promise<NamedPerson[]> {
    const people = new Map<number, NamedPerson>();
    const add = (userId: number, isNamedDirectly: boolean): void => {
      const isDirect = isNamedDirectly || people.get(userId)?.isDirect === true;
      if (people.has(userId) || people.size < this.settings.peoplePerText) people.set(userId, { userId, isDirect });
    };
    for (const { names, direct } of texts) {
      for (const name of names) if (byName.has(name)) add(byName.get(name)!, direct.has(name));
    }
    for (const { text, names, direct } of texts) {
      const others = names.filter((name) => !byName.has(name));
      for (const member of await this.members(tx, text, others)) add(member.user_id, direct.has(member.name));
    }
    return [...people.values()];
  }

  private async members(tx: Tx, text: NamingText, names: readonly string[]): Promise<MemberRow[]> {
    const { peoplePerText } = this.settings;
    const groups = names.filter((name) => name !== ALL);
    const found =
      groups.length === 0 ? [] : await tx.prepared<MemberRow>(groupMembers, [groups, text.authorId, peoplePerText]);
    if (!names.includes(ALL)) return found;
    const everybody = await tx.prepared<{ user_id: number }>(projectMembers, [
      text.projectId,
      peoplePerText,
      text.authorId,
    ]);
    return [...found, ...everybody.map((row) => ({ user_id: row.user_id, name: ALL }))];
  }
}

/** A text with the names in it, lower-cased. */
interface Naming {
  readonly text: NamingText;
  readonly names: readonly string[];
  readonly direct: ReadonlySet<string>;
}

function namingOf(text: NamingText): Naming {
  const { all, direct } = mentionsIn(text.text);
  const lower = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase());
  return { text, names: lower(all), direct: new Set(lower(direct)) };
}

interface MemberRow {
  readonly user_id: number;
  readonly name: string;
}
