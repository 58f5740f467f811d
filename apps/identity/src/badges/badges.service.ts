import { Injectable } from '@nestjs/common';
import { Forbidden, Invalid, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { violates, Work } from '@rookery/persistence';
import { problemsByField } from '../paths/path-rules';
import type { BadgeChange, BadgeRow, BadgeSource, NewBadge } from './badge-row';
import { problemsOfUrl } from './badge-url';
import { badgesOfSql, SHOWN } from './badges.queries';

/** Units: characters. Source: reference identity-and-import 8. */
const LONGEST_NAME = 255;

/** Making, changing and removing badges. */
@Injectable()
export class BadgesService {
  constructor(private readonly work: Work) {}

  /** Errors: Invalid by field. */
  check(badge: BadgeChange): void {
    const problems = problemsByField({
      link_url: badge.link_url === undefined ? [] : problemsOfUrl(badge.link_url),
      image_url: badge.image_url === undefined ? [] : problemsOfUrl(badge.image_url),
      name: (badge.name?.length ?? 0) > LONGEST_NAME ? [`is too long (maximum is ${LONGEST_NAME} characters)`] : [],
    });
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
  }

  /** Errors: Invalid by field; NotFound when the source is gone meanwhile. */
  async create(source: BadgeSource, badge: NewBadge): Promise<BadgeRow> {
    this.check(badge);
    const column = source.kind === 'project' ? 'project_id' : 'namespace_id';
    try {
      return await this.work.run(async (tx) => {
        const [made] = (await tx.query(
          `insert into badges as b (${column}, name, link_url, image_url) values ($1, $2, $3, $4) returning ${SHOWN}`,
          [source.id, badge.name ?? null, badge.link_url, badge.image_url],
        )) as [BadgeRow];
        return made;
      });
    } catch (error) {
      const isGone = violates(error, `fk_badges_${column}`);
      throw isGone ? new NotFound(source.kind === 'project' ? 'Project' : 'Group') : error;
    }
  }

  /** Errors: Invalid by field; NotFound; Forbidden for a group's badge through a project. */
  change(source: BadgeSource, id: number, change: BadgeChange): Promise<BadgeRow> {
    return this.work.run(async (tx) => {
      const old = await this.locked(tx, source, id, 'update');
      this.check(change);
      const name = change.name === undefined ? old.name : change.name;
      const [changed] = (await tx.query(
        `update badges b set name = $2, link_url = $3, image_url = $4, updated_at = now() where b.id = $1
         returning ${SHOWN}`,
        [id, name, change.link_url ?? old.link_url, change.image_url ?? old.image_url],
      )) as [BadgeRow];
      return changed;
    });
  }

  /** Shape: `unchanged` is asked with the time of the last change. Errors: NotFound; Forbidden as above. */
  async remove(source: BadgeSource, id: number, unchanged: (updatedAt: Date) => void): Promise<void> {
    await this.work.run(async (tx) => {
      const old = await this.locked(tx, source, id, 'delete');
      unchanged(old.updated_at);
      await tx.query(`delete from badges where id = $1`, [id]);
    });
  }

  /** A project shows the badges of its groups too, but they are the groups' to change. */
  private async locked(tx: Tx, source: BadgeSource, id: number, verb: 'update' | 'delete'): Promise<BadgeRow> {
    const values: unknown[] = [id];
    const found = badgesOfSql(source, (value) => `$${values.push(value)}`);
    const [badge] = await tx.query<BadgeRow>(
      `select ${SHOWN} from badges b where b.id = $1 and ${found} for no key update`,
      values,
    );
    if (!badge) throw new NotFound();
    if (badge.kind !== source.kind) {
      throw new Forbidden(`To ${verb} a Group badge please use the Group endpoint`, { inError: true });
    }
    return badge;
  }
}
