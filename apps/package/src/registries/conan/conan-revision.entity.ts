import { Check, Column, Entity, ForeignKey, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Package } from '../../packages/package.entity';

/**
 * A revision of a Conan recipe, or of one of its binary packages. Clients see it once its manifest is uploaded. Source:
 * reference packages-and-admin 4.13.
 */
@Entity('conan_revisions')
@Check('ck_conan_revisions_recipe', 'char_length(recipe_revision) <= 40')
@Check('ck_conan_revisions_binary', 'char_length(binary_reference) <= 128')
@Check('ck_conan_revisions_revision', 'char_length(binary_revision) <= 40')
@Check('ck_conan_revisions_info', 'char_length(info) <= 1048576')
@Unique('uq_conan_revisions_revision', ['packageId', 'recipeRevision', 'binaryReference', 'binaryRevision'])
export class ConanRevision {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_conan_revisions',
  })
  id: number;
  @Column({ type: 'bigint' })
  @ForeignKey(() => Package, { name: 'fk_conan_revisions_package_id', onDelete: 'CASCADE' })
  packageId: number;
  @Column({ type: 'bigint' }) projectId: number;
  /** A digest, or `0` for version 1 of the protocol. */
  @Column({ type: 'text' }) recipeRevision: string;
  /** Id that the client computed from settings and options. Empty for the recipe itself. */
  @Column({ type: 'text', default: '' }) binaryReference: string;
  /** A digest, or `0` for version 1. Empty for the recipe itself. */
  @Column({ type: 'text', default: '' }) binaryRevision: string;
  /** Content of `conaninfo.txt` of a binary package. */
  @Column({ type: 'text', nullable: true }) info: string | null;
}
