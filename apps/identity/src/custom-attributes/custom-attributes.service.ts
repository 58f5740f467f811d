import { Injectable } from '@nestjs/common';
import { Invalid, lengthProblems, NotFound, keepFieldsWithProblems } from '@rookery/kernel';
import { Database, ListQuery, violatesConstraint } from '@rookery/persistence';
import type { RowOf } from '@rookery/persistence';
import type { CustomAttribute } from './custom-attribute.entity';
import { OWNER_COLUMNS } from './custom-attributes-sql';
import type { AttributedKind } from './custom-attributes-sql';

export type AttributeRow = RowOf<CustomAttribute, 'key' | 'value'>;

/** Units: characters. Source: reference identity-and-import 2.9. */
const LONGEST = { key: 255, value: 4096 };
const NOUNS = { user: 'User', group: 'Group', project: 'Project' } as const;

/** Custom attributes of users, groups and projects. Source: reference identity-and-import 2.9. */
@Injectable()
export class CustomAttributesService {
  constructor(private readonly db: Database) {}

  /**
   * Returns all attributes, ordered by key. Errors: NotFound for a missing user; groups and projects are resolved
   * before.
   */
  async listAttributes(kind: AttributedKind, ownerId: number): Promise<AttributeRow[]> {
    await this.requireExistingOwner(kind, ownerId);
    const parts = {
      name: 'custom-attributes',
      from: 'custom_attributes ca',
      key: 'ca.key',
      carries: 'ca.key, ca.value',
    };
    return new ListQuery<AttributeRow>(parts)
      .where((bind) => `ca.${OWNER_COLUMNS[kind]} = ${bind(ownerId)}`)
      .readAll(this.db);
  }

  /** Errors: NotFound. */
  async findAttribute(kind: AttributedKind, ownerId: number, key: string): Promise<AttributeRow> {
    await this.requireExistingOwner(kind, ownerId);
    const [found] = await this.db.query<AttributeRow>(
      `select key, value from custom_attributes where ${OWNER_COLUMNS[kind]} = $1 and key = $2`,
      [ownerId, key],
    );
    if (!found) throw new NotFound();
    return found;
  }

  /** Adds or replaces an attribute. Errors: Invalid by field; NotFound for a deleted owner. */
  async setAttribute(kind: AttributedKind, ownerId: number, attribute: AttributeRow): Promise<AttributeRow> {
    await this.requireExistingOwner(kind, ownerId);
    const problems = findCustomAttributeProblems(attribute);
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const column = OWNER_COLUMNS[kind];
    try {
      const [written] = (await this.db.query(
        `insert into custom_attributes (${column}, key, value) values ($1, $2, $3)
         on conflict (${column}, key) do update set value = excluded.value returning key, value`,
        [ownerId, attribute.key, attribute.value],
      )) as [AttributeRow];
      return written;
    } catch (error) {
      throw violatesConstraint(error, `fk_custom_attributes_${column}`) ? new NotFound(NOUNS[kind]) : error;
    }
  }

  /** Errors: NotFound. */
  async remove(kind: AttributedKind, ownerId: number, key: string): Promise<void> {
    await this.requireExistingOwner(kind, ownerId);
    const gone = await this.db.query(
      `delete from custom_attributes where ${OWNER_COLUMNS[kind]} = $1 and key = $2 returning id`,
      [ownerId, key],
    );
    if (gone.length === 0) throw new NotFound();
  }

  /** Checks that the user exists. The route has already found a group or project. Errors: NotFound. */
  private async requireExistingOwner(kind: AttributedKind, ownerId: number): Promise<void> {
    if (kind !== 'user') return;
    const [user] = await this.db.query(`select id from users where id = $1`, [ownerId]);
    if (!user) throw new NotFound(NOUNS.user);
  }
}

function findCustomAttributeProblems(attribute: AttributeRow): Record<string, string[]> {
  const problems = (field: keyof typeof LONGEST): string[] =>
    attribute[field].trim() === '' ? ["can't be blank"] : lengthProblems(attribute[field], LONGEST[field]);
  return keepFieldsWithProblems({ key: problems('key'), value: problems('value') });
}
