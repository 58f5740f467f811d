import type { Pool } from 'pg';

/**
 * Random trees of groups with projects, memberships and shares. There are few names and paths, so that many are equal
 * and the id decides; some memberships are expired; groups are moved and renamed in one statement, like in the service.
 */
export class RandomForest {
  static readonly USERS = [100, 101, 102, 103, 104, 105, 106, 107];
  static readonly LEVELS = [5, 10, 20, 30, 40, 50];
  private static readonly GROUPS = 60;
  private static readonly PROJECTS = 120;
  private seed = 20261121;

  constructor(private readonly pool: Pool) {}

  random(below: number): number {
    this.seed = (Math.imul(this.seed, 1103515245) + 12345) & 0x7fffffff;
    return (this.seed >> 8) % below;
  }

  /** Id of a created group, which may have been removed since. */
  group(): number {
    return 1 + this.random(RandomForest.GROUPS);
  }

  name(): string {
    return `Name ${this.random(12)}`;
  }

  path(): string {
    return `path-${this.random(12)}`;
  }

  /** Deletes everything and builds a new forest. */
  async populate(): Promise<void> {
    await this.clear();
    for (const user of RandomForest.USERS) await this.addUser(user);
    const paths = new Map<number, number[]>();
    for (let id = 1; id <= RandomForest.GROUPS; id++) {
      const parent = id > 10 && this.random(3) > 0 ? 1 + this.random(id - 1) : null;
      const traversal = [...(parent === null ? [] : paths.get(parent)!), id];
      paths.set(id, traversal);
      await this.addGroup(id, parent, traversal);
    }
    for (let n = 0; n < 70; n++) await this.addMember('namespace', this.group());
    for (let n = 0; n < 18; n++) await this.addShare('namespace', this.group());
    for (let id = 1; id <= RandomForest.PROJECTS; id++) await this.addProject(id);
    for (let n = 0; n < 25; n++) await this.addMember('project', 1 + this.random(RandomForest.PROJECTS));
    for (let n = 0; n < 12; n++) await this.addShare('project', 1 + this.random(RandomForest.PROJECTS));
  }

  async clear(): Promise<void> {
    for (const table of ['members', 'shares', 'projects', 'namespaces']) await this.pool.query(`delete from ${table}`);
  }

  async rename(): Promise<void> {
    for (let n = 0; n < 15; n++)
      await this.pool.query('update namespaces set name = $2, path = $3 where id = $1', [
        this.group(),
        `${this.name()} ${n} new`,
        this.random(2) ? this.path() : `new-${n}`,
      ]);
  }

  /** Moves a tree below the first group and gives its root another name and path. */
  async moveBelow(): Promise<void> {
    const root = await this.selectFirstId(
      `select id from namespaces where kind = 'group' and parent_id is null order by id desc`,
    );
    await this.pool.query(
      `update namespaces set traversal_ids = 1 || traversal_ids, parent_id = case when id = $1 then 1 else parent_id end,
         name = case when id = $1 then name || ' moved' else name end, path = case when id = $1 then 'path-0' else path end
       where traversal_ids[1] = $1`,
      [root],
    );
  }

  /** Moves trees with members to the top level; they keep name and path. */
  async moveToTop(): Promise<void> {
    for (let n = 0; n < 3; n++) {
      const id = await this.selectFirstId(`select n.id from namespaces n where n.parent_id is not null
        and exists (select 1 from members m where m.source_type = 'namespace' and m.source_id = n.id) order by n.id`);
      await this.pool.query(
        `update namespaces set parent_id = case when id = $1 then null else parent_id end,
           traversal_ids = traversal_ids[array_position(traversal_ids, $1::bigint):]
         where traversal_ids @> array[$1::bigint]`,
        [id],
      );
    }
  }

  async removeLeaf(): Promise<void> {
    const leaf = await this.selectFirstId(`select n.id from namespaces n where n.kind = 'group'
      and not exists (select 1 from namespaces c where c.parent_id = n.id) order by n.id`);
    await this.pool.query(`delete from members where source_type = 'namespace' and source_id = $1`, [leaf]);
    await this.pool.query(`delete from shares where source_type = 'namespace' and source_id = $1`, [leaf]);
    await this.pool.query(`delete from projects where namespace_id = $1`, [leaf]);
    await this.pool.query(`delete from namespaces where id = $1`, [leaf]);
  }

  private async selectFirstId(sql: string): Promise<number> {
    const { rows } = await this.pool.query<{ id: string }>(`${sql} limit 1`);
    return Number(rows[0]!.id);
  }

  /** Users with a personal namespace. */
  private async addUser(user: number): Promise<void> {
    await this.pool.query(
      `insert into users (id, username, name, email) values ($1, $2, $2, $2 || '@example.com') on conflict do nothing`,
      [user, `user${user}`],
    );
    await this.pool.query(
      `insert into namespaces (id, kind, owner_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
       values ($1 + 1000, 'user', $1, array[$1 + 1000], $2, $2, $2, $2, 'public', 'free')`,
      [user, `user${user}`],
    );
  }

  private async addGroup(id: number, parent: number | null, traversal: readonly number[]): Promise<void> {
    await this.pool.query(
      `insert into namespaces (id, kind, parent_id, traversal_ids, name, path, full_name, full_path, visibility, plan)
       values ($1, 'group', $2, $3, $4, $5, $6, $6, 'private', 'free') on conflict do nothing`,
      [id, parent, traversal, `${this.name()}${parent === null ? '' : ` ${id}`}`, this.path(), `path-${id}`],
    );
  }

  private async addProject(id: number): Promise<void> {
    const home = this.random(6) ? this.group() : 1000 + this.randomUser();
    await this.pool.query(
      `insert into projects (id, namespace_id, name, path, visibility, last_activity_at)
       values ($1, $2, $3, $3, 'private', timestamptz '2026-01-01' + $4 * interval '1 day')`,
      [id, home, `project-${id}`, this.random(20)],
    );
  }

  private async addMember(source: string, id: number): Promise<void> {
    await this.pool.query(
      `insert into members (user_id, source_type, source_id, access_level, expires_on)
       values ($1, $2, $3, $4, ${this.randomEndSql()}) on conflict do nothing`,
      [this.randomUser(), source, id, RandomForest.LEVELS[this.random(6)]],
    );
  }

  private async addShare(source: string, id: number): Promise<void> {
    await this.pool.query(
      `insert into shares (source_type, source_id, group_id, access_level, expires_on)
       values ($1, $2, $3, $4, ${this.randomEndSql()}) on conflict do nothing`,
      [source, id, this.group(), RandomForest.LEVELS.slice(1)[this.random(5)]],
    );
  }

  private randomUser(): number {
    return RandomForest.USERS[this.random(RandomForest.USERS.length)]!;
  }

  /** Some are expired, some expire later, most do not expire. */
  private randomEndSql(): string {
    return ['null', 'null', 'null', `current_date - 1`, `current_date + 5`][this.random(5)]!;
  }
}
