import { Inject, Injectable } from '@nestjs/common';
import { groupAccessLevelSql, isPlaceholderAccountSql } from '@rookery/directory';
import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { findMentions } from './mentions';
import { mentionsSettings } from './mentions.config';
import type { MentionsSettings } from './mentions.config';

/** Text that may mention users, with its project and author. */
export interface MentioningText {
  /** Null for noteables of groups, where `@all` mentions no user. */
  readonly projectId: number | null;
  readonly authorId: number;
  readonly text: string;
}

export interface MentionedUser {
  readonly userId: number;
  /** Whether the user is mentioned at the start of a line. */
  readonly isDirect: boolean;
}

/** A noteable with the last editors of its texts. */
export interface EditedNoteable {
  /** Absent for noteables of groups. */
  readonly projectId?: number;
  readonly authorId: number;
  readonly title: string;
  readonly titleEditedById: number | null;
  readonly description: string | null;
  readonly editedById: number | null;
}

/** Name that mentions all members of the project. */
const ALL = 'all';
const isMembershipNotExpiredSql = (alias: string): string =>
  `(${alias}.expires_on is null or ${alias}.expires_on > (statement_timestamp() at time zone 'UTC')::date)`;

/**
 * Boolean SQL: excludes bots of access tokens, which are not notified, and whose names are hidden from users who cannot
 * see their project or group.
 */
const isNoAccessTokenBotSql = (user: string): string =>
  `not exists (select 1 from directory_users b where b.id = ${user} and b.kind = 'project_bot')`;
/** Boolean SQL: may the user in the row `author` see the group? `group` is an alias of directory_namespaces. */
const authorSeesGroupSql = (group: string): string =>
  `(${group}.visibility = 'public' or author.admin or (${group}.visibility = 'internal' and not author.external)
     or ${groupAccessLevelSql({ user: 'author.id', namespace: group })} >= 10)`;

const users = prepareStatement(
  'audience_users',
  `select u.id, lower(u.username) as name from directory_users u
   where lower(u.username) = any($1::text[]) and u.kind <> 'project_bot' and not ${isPlaceholderAccountSql('u')}`,
);

/**
 * $1 lower-case paths, $2 author, $3 maximum number of members. Ignores groups that the author may not see and groups that
 * have disabled mentions.
 */
const groupMembers = prepareStatement(
  'audience_group_members',
  `select lower(n.full_path) as name, m.user_id
   from directory_namespaces n cross join directory_users author
   cross join lateral (
     select distinct m.user_id from directory_memberships m
     where m.source_type = 'namespace' and m.source_id = any(n.traversal_ids) and ${isMembershipNotExpiredSql('m')} and ${isNoAccessTokenBotSql('m.user_id')}
     order by m.user_id limit $3::integer) m
   where n.kind = 'group' and lower(n.full_path) = any($1::text[]) and author.id = $2::bigint
     and n.mentions_disabled is not true and ${authorSeesGroupSql('n')}`,
);

/**
 * $1 project, $2 maximum number of members, $3 author. Ignores members through an invited group that the author may not see.
 * Users who have lost their access are filtered later, when read access is checked.
 */
const projectMembers = prepareStatement(
  'audience_project_members',
  `with home as (
     select p.id, n.traversal_ids, n.owner_id from directory_projects p
     join directory_namespaces n on n.id = p.namespace_id where p.id = $1::bigint
   ), source as (
     select 'project' as source_type, home.id as source_id from home
     union all select 'namespace', unnest(home.traversal_ids) from home
   )
   select user_id from (
     select m.user_id from source join directory_memberships m using (source_type, source_id) where ${isMembershipNotExpiredSql('m')}
     union
     select m.user_id from source join directory_shares s using (source_type, source_id)
       join directory_namespaces invited on invited.id = s.group_id
       join directory_users author on author.id = $3::bigint and ${authorSeesGroupSql('invited')}
       join directory_memberships m on m.source_type = 'namespace' and m.source_id = any(invited.traversal_ids)
       where ${isMembershipNotExpiredSql('s')} and ${isMembershipNotExpiredSql('m')}
     union
     select owner_id from home where owner_id is not null
   ) people where ${isNoAccessTokenBotSql('user_id')} order by user_id limit $2::integer`,
);

/**
 * Finds the users that texts mention: by name, as members of a group, or with `@all` as members of the project. Ignores groups
 * that the author may not see. Does not check whether the users may read the text.
 * Source: reference work-tracking 6.3.
 */
@Injectable()
export class UserMentions {
  constructor(@Inject(mentionsSettings.token) private readonly settings: MentionsSettings) {}

  /**
   * Returns the mentioned users of each noteable, each user once per noteable. `noteables` has a list of texts for each
   * noteable. The result is in the same order. Runs one statement if only users are mentioned, and one or two more for
   * groups and `@all` of each text.
   */
  async listMentioned(tx: Tx, noteables: readonly (readonly MentioningText[])[]): Promise<MentionedUser[][]> {
    const naming = noteables.map((texts) => texts.map((text) => extractNames(text)));
    const names = new Set(naming.flat().flatMap((text) => text.names));
    if (names.size === 0) return noteables.map(() => []);
    const rows = await tx.prepared<{ id: number; name: string }>(users, [[...names]]);
    const byName = new Map(rows.map((row) => [row.name, row.id]));
    const found: MentionedUser[][] = [];
    for (const texts of naming) found.push(await this.findMentioned(tx, texts, byName));
    return found;
  }

  /**
   * Returns the ids of the users whom title and description of a noteable mention, members of groups included. Updates
   * call it with the previous texts: users who were mentioned already are not notified again.
   */
  async listMentionedIds(tx: Tx, noteable: EditedNoteable): Promise<number[]> {
    const [mentioned] = await this.listMentioned(tx, [textsOf(noteable)]);
    return mentioned!.map(({ userId }) => userId);
  }

  private async findMentioned(
    tx: Tx,
    texts: readonly TextWithNames[],
    byName: ReadonlyMap<string, number>,
  ): Promise<MentionedUser[]> {
    const people = new Map<number, MentionedUser>();
    const add = (userId: number, isNamedDirectly: boolean): void => {
      const isDirect = isNamedDirectly || people.get(userId)?.isDirect === true;
      if (people.has(userId) || people.size < this.settings.peoplePerText) people.set(userId, { userId, isDirect });
    };
    for (const { names, direct } of texts) {
      for (const name of names) if (byName.has(name)) add(byName.get(name)!, direct.has(name));
    }
    for (const { text, names, direct } of texts) {
      const others = names.filter((name) => !byName.has(name));
      for (const member of await this.findMembersOfNames(tx, text, others))
        add(member.user_id, direct.has(member.name));
    }
    return [...people.values()];
  }

  private async findMembersOfNames(tx: Tx, text: MentioningText, names: readonly string[]): Promise<NamedMemberRow[]> {
    const { peoplePerText } = this.settings;
    const groups = names.filter((name) => name !== ALL);
    const found =
      groups.length === 0
        ? []
        : await tx.prepared<NamedMemberRow>(groupMembers, [groups, text.authorId, peoplePerText]);
    if (!names.includes(ALL)) return found;
    const members = await tx.prepared<{ user_id: number }>(projectMembers, [
      text.projectId,
      peoplePerText,
      text.authorId,
    ]);
    return [...found, ...members.map((row) => ({ user_id: row.user_id, name: ALL }))];
  }
}

/** A text with the mentioned names in lower case. `direct` are the names at the start of a line. */
interface TextWithNames {
  readonly text: MentioningText;
  readonly names: readonly string[];
  readonly direct: ReadonlySet<string>;
}

function extractNames(text: MentioningText): TextWithNames {
  const { all, direct } = findMentions(text.text);
  const lower = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase());
  return { text, names: lower(all), direct: new Set(lower(direct)) };
}

/** Title and description of a noteable, each with its author: the last editor, or else the author of the noteable. */
function textsOf(noteable: EditedNoteable): readonly MentioningText[] {
  const { projectId = null, authorId, title, titleEditedById, description, editedById } = noteable;
  return [
    { projectId, authorId: titleEditedById ?? authorId, text: title },
    { projectId, authorId: editedById ?? authorId, text: description ?? '' },
  ];
}

interface NamedMemberRow {
  readonly user_id: number;
  readonly name: string;
}
